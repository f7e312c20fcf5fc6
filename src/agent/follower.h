// SPDX-License-Identifier: Apache-2.0
//
// The speaking side of an agent: follows the coordinating node for as long as it can be heard.
// Both prove themselves before the first report.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "agent/credentials.h"
#include "base/clock.h"
#include "base/result.h"
#include "nodes/joint_course.h"
#include "nodes/seat.h"

namespace hypermile {

struct FollowTerms {
  std::string address;  // of the node to follow
  std::string job;
  NodeNumber self = 0;
  std::size_t nodes = 1;  // of the step
  Seconds connect_within = Seconds(1);
  // Called with what the coordinating node tells of others; from another thread.
  std::function<void(NodeNumber node, const std::string& host)> learn_host = {};
};

// Blocks. An Error where the node could not be followed at all: nobody there, or it refused.
// Otherwise returns why following ended; the seat has been left then, and was joined once
// `welcomed` was called.
Result<std::string> follow(const FollowTerms& terms, Credentials& credentials, Seat& seat,
                           Clock& clock, const std::function<void()>& welcomed,
                           const std::stop_token& stop);

}  // namespace hypermile
