// SPDX-License-Identifier: Apache-2.0
//
// Turns the values of src/nodes into the messages of agents.proto and back. Reading checks every
// number, because a peer may be broken: a number that is not finite or not possible is kParse, and
// ends the connection.
#pragma once

#include "agent/agents.pb.h"
#include "base/result.h"
#include "nodes/order.h"

namespace hypermile {

inline constexpr std::uint32_t kAgentProtocol = 1;
inline constexpr std::size_t kMostMessageBytes = 64 << 10;  // 2,000 Settings take 30 kB
inline constexpr std::size_t kMostSettings = 4096;
inline constexpr std::size_t kMostReasonBytes = 512;

agents::v1::Report to_message(const NodeReport& report);
agents::v1::Order to_message(const Order& order);

Result<NodeReport> from_message(const agents::v1::Report& message);
Result<Order> from_message(const agents::v1::Order& message);

}  // namespace hypermile
