// SPDX-License-Identifier: Apache-2.0
//
// The client of the kill matrix, in a process of its own: every step of a lease, again and again.
#pragma once

#include <string>

#include "base/units.h"

namespace hypermile {

// Takes a lease on the GPU, from a guardian (its program; "" for the daemon), changes the GPU,
// writes "C" to `events`, and renews until there is a byte to read from `orders`. Then sets,
// renews and releases, writes "c", and begins again with a new lease. Returns when a step fails.
int kill_client(const std::string& gpu, const std::string& guardian, Seconds ttl, int events,
                int orders);

// A daemon answers and knows its GPUs.
bool daemon_serves();

}  // namespace hypermile
