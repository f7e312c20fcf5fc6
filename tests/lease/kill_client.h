// SPDX-License-Identifier: Apache-2.0
//
// The client of the kill matrix, a separate process that repeats every step of a lease.
#pragma once

#include <string>

#include "base/units.h"

namespace hypermile {

// Takes a lease on the GPU from a guardian (its program; "" for the daemon), changes the GPU,
// writes "C" to `events`, and renews until `orders` is readable. Then it sets, renews and releases,
// writes "c", and begins again with a new lease. Returns when a step fails.
int kill_client(const std::string& gpu, const std::string& guardian, Seconds ttl, int events,
                int orders);

// True if a daemon answers and knows its GPUs.
bool daemon_serves();

}  // namespace hypermile
