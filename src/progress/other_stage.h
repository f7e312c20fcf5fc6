// SPDX-License-Identifier: Apache-2.0
//
// Tells whether a pattern is only one stage of a longer round. A reinforcement learner plays, which
// repeats evenly, and then learns with kernels that playing never launches. The steps of its play
// are no iterations: how many of them come for each stage of learning may vary. A pure function;
// the detector calls it when a pattern comes back after an interlude.
#pragma once

#include <cstdint>
#include <optional>

#include "progress/analysis.h"
#include "progress/launch_ring.h"

namespace hypermile {

// The launches of the longest other stage among the launches [from, to), between which the pattern
// did not hold; nullopt if they hold no other stage. Of a round, which is both, the pattern
// launches little but the forward pass. An evaluation is no other stage, because it has few kernels
// that its training lacks.
std::optional<std::uint64_t> other_stage(const LaunchRing& ring, std::uint64_t from,
                                         std::uint64_t to, const Reference& pattern);

}  // namespace hypermile
