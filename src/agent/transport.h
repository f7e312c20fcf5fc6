// SPDX-License-Identifier: Apache-2.0
//
// What both ends of a connection between agents agree on: sizes, and how soon a peer that is gone
// without a word is noticed.
#pragma once

#include <grpcpp/grpcpp.h>

#include <algorithm>

#include "base/units.h"

namespace hypermile {

// Each side says something at least so often, and gives the other up after three times as long. A
// connection that breaks is noticed at once; this is for peers that fall silent. A step of many
// nodes has longer beats, so that its coordinating node is not kept busy by signs of life: 1 s up
// to 256 nodes, 2 s for 512, and 5 s at most.
inline Seconds agent_beat(std::size_t nodes) {
  return Seconds(std::clamp(static_cast<double>(nodes) / 256, 1.0, 5.0));
}
inline Seconds agent_silence(std::size_t nodes) {
  return 3 * agent_beat(nodes);
}

// Beats tell sooner; this is for a peer that never got as far.
inline constexpr int kKeepaliveMs = 20'000;
inline constexpr int kKeepaliveTimeoutMs = 5'000;
// gRPC itself cuts off whatever is larger; between kMostMessageBytes and this it is counted.
inline constexpr int kMostBytesOnTheWire = 1 << 20;

// The host of what gRPC calls a peer: "ipv4:10.0.0.3:4711" and "ipv6:%5B::1%5D:4711" become
// "10.0.0.3" and "[::1]".
std::string host_of_peer(const std::string& peer);

void set_transport_limits(grpc::ServerBuilder& builder);
std::shared_ptr<grpc::Channel> open_channel(const std::string& address);

}  // namespace hypermile
