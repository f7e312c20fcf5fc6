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
  // Called from another thread when the coordinating node names the host of another node.
  std::function<void(NodeNumber node, const std::string& host)> learn_host = {};
};

// Blocks until following ends, and returns why it ended. `welcomed` is called when the coordinating
// node has accepted this one and the seat is joined; the seat is left before this returns. An Error
// means that following never began, because nobody answered or the other node refused.
Result<std::string> follow(const FollowTerms& terms, Credentials& credentials, Seat& seat,
                           Clock& clock, const std::function<void()>& welcomed,
                           const std::stop_token& stop);

}  // namespace hypermile
