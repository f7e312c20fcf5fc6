// SPDX-License-Identifier: Apache-2.0
//
// What both ends of a connection between agents agree on: sizes, and how soon a peer that is gone
// without a word is noticed.
#pragma once

#include <grpcpp/grpcpp.h>

#include "base/units.h"

namespace hypermile {

// Each side says something at least so often, and gives the other up after the longer time.
inline constexpr Seconds kAgentBeat = Seconds(1);
inline constexpr Seconds kAgentSilence = Seconds(3);

// A peer is asked for a sign of life after 1 s without one and given up after 2 s more.
inline constexpr int kKeepaliveMs = 1000;
inline constexpr int kKeepaliveTimeoutMs = 2000;
// gRPC itself cuts off whatever is larger; between kMostMessageBytes and this it is counted.
inline constexpr int kMostBytesOnTheWire = 1 << 20;

// The host of what gRPC calls a peer: "ipv4:10.0.0.3:4711" and "ipv6:%5B::1%5D:4711" become
// "10.0.0.3" and "[::1]".
std::string host_of_peer(const std::string& peer);

void set_transport_limits(grpc::ServerBuilder& builder);
std::shared_ptr<grpc::Channel> open_channel(const std::string& address);

}  // namespace hypermile
