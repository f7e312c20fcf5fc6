// SPDX-License-Identifier: Apache-2.0
//
// Ranks of one simulated job, each on its own GPU: before every training iteration all wait for the
// slowest, as data-parallel training does for its gradients. A waiting rank draws the power of a
// card between kernels at its clocks and counts as busy, because the collective's kernel spins; so
// utilisation does not show who waits. Where iterations are much shorter than any sensor resolves,
// ranks meet after several.
//
// As with advance(), moving in one step or in a thousand gives the same bits. Nothing here fails.
#pragma once

#include <cstdint>
#include <span>

#include "sim/advance.h"

namespace hypermile {

struct SimRank {
  SimGpuState* state = nullptr;
  const GpuConstants* gpu = nullptr;
  const Load* load = nullptr;
  JobObserver* observer = nullptr;
  double offset_s = 0;                  // common time = the rank's own time + offset_s
  std::uint64_t iterations_before = 0;  // finished before the job was last started on this GPU
};

// Moves all ranks to `until`, in common time. Each rank's job was started with barrier 0. Unless
// `complete`, ranks are missing and none passes its barrier.
void advance_together(std::span<const SimRank> ranks, bool complete, Seconds until);

}  // namespace hypermile
