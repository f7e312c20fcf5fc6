// SPDX-License-Identifier: Apache-2.0
//
// Which node an agent follows: the lowest that coordinates, or none, and then it coordinates
// itself. A node that coordinates gives way to a lower one as soon as that can be heard, so agents
// that start in any order, lose a node or are cut off for a while end up in one group.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/credentials.h"
#include "agent/server.h"
#include "base/clock.h"
#include "nodes/seat.h"

namespace hypermile {

struct GroupPlan {
  CourseTerms course;
  std::vector<std::string> nodes;      // names
  std::vector<std::string> addresses;  // "HOST:PORT", one for each; "" where it must be learnt
  // Of a node that was learnt to be at `host`; needed where an address is empty.
  std::function<std::string(NodeNumber node, const std::string& host)> address_at = {};
  std::string job;
  NodeNumber self = 0;
};

// Blocks until `stop`. Everything it refers to must outlive it.
void run_group_loop(const GroupPlan& plan, AgentServer& server, Credentials& credentials,
                    Seat& seat, Clock& clock, const std::stop_token& stop);

}  // namespace hypermile
