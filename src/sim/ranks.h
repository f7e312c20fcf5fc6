// SPDX-License-Identifier: Apache-2.0
//
// Ranks of one simulated job, each on a GPU of its own: before every training iteration all of them
// wait for the slowest, as data-parallel training does for its gradients. A rank that waits draws
// what a card draws between kernels at its clocks, and counts as busy, because the collective's
// kernel spins; so utilisation does not show who waits. Where iterations are much shorter than any
// sensor resolves, ranks meet after several.
//
// As with advance(), moving in one step or in a thousand gives the same bits. Nothing here fails.
#pragma once

#include <cstdint>
#include <span>

#include "sim/advance.h"

namespace hypermile {

struct SimRank {
  SimGpuState* state = nullptr;
  const GpuPhysics* gpu = nullptr;
  const Load* load = nullptr;
  JobObserver* observer = nullptr;
  double offset_s = 0;                  // common time = this rank's own + offset
  std::uint64_t iterations_before = 0;  // finished before this start of the job on this GPU
};

// Each rank's job was started with barrier 0. Moves all of them to `until`, in common time. Unless
// `complete`, ranks are missing and nobody gets past its barrier.
void advance_together(std::span<const SimRank> ranks, bool complete, Seconds until);

}  // namespace hypermile
