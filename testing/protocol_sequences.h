// SPDX-License-Identifier: Apache-2.0
//
// Plays a sequence of whatever clients can do to the daemon, made from arbitrary bytes, and checks
// after each step what must always hold. Two fuzzers and the attack `sequences` use it: coverage
// chooses the bytes there, a seed here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hypermile {

// Five users ask a Service for leases, change GPUs, stop renewing, hang up and reset, while GPUs
// and the disk fail, in virtual time. Returns what was broken, or "".
//  - A card is changed only while somebody holds it or while it is being restored.
//  - Nobody changes a GPU without a rule, or beyond its bounds.
//  - A GPU has one holder.
//  - When all have hung up and everything works again, every card is at its default.
std::string play_service_sequence(std::span<const std::uint8_t> bytes);

// Clients send frames to a Server through sockets: whole, damaged, in pieces, without reading.
// Returns what was broken, or "".
//  - The Server answers a well-behaved client after every step.
//  - When all have hung up, every card is at its default.
std::string play_server_sequence(std::span<const std::uint8_t> bytes);

}  // namespace hypermile
