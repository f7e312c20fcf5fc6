// SPDX-License-Identifier: Apache-2.0
//
// Tells whether launches pass in a few long waits (for a graph, for data, for the GPU at a
// synchronisation) or at the steady pace of many kernels. Whole iterations of few launches spend
// their time in waits; the layers of a long forward pass, behind a full queue, do not. A pure
// function.
#pragma once

#include <cstddef>
#include <cstdint>

#include "progress/launch_ring.h"

namespace hypermile {

// The share of the time between launches `begin` and `end` that lies in the `count` longest pauses.
double share_of_longest_pauses(const LaunchRing& ring, std::uint64_t begin, std::uint64_t end,
                               std::size_t count);

}  // namespace hypermile
