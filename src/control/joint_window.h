// SPDX-License-Identifier: Apache-2.0
//
// One job on several GPUs is judged as one. Its ranks (a process and a GPU that it uses: one each
// with data-parallel processes, several GPUs of one process with DataParallel, several processes on
// one GPU) wait for each other in every iteration, so each of them measures the same time per
// iteration, and the slowest sets the pace. The job's energy is that of all its GPUs. The
// Controller makes one Window of those of the ranks and hands it to the policy.
//
// Ranks whose times differ by more than their errors explain are not one job: no joint decision can
// be right for them, and the joint Window says so.
#pragma once

#include <span>
#include <vector>

#include "base/identifiers.h"
#include "measure/window.h"

namespace hypermile {

struct RankWindow {
  GpuUuid gpu;
  Window window;
};

// Times may differ by this much whatever their errors say: Boundaries of two processes are seen by
// different means.
inline constexpr double kRanksAgreeWithin = 0.01;

// `setting` is the joint one; GPUs with slack may have been told less. Of several Windows on one
// GPU the best known counts as its energy. Unusable where any of them is, naming it; where they do
// not overlap in time; where their paces do not agree. Energy and power, the sums over GPUs, are
// unknown where one of them is. Errors are added, not their squares: what disturbs an iteration
// disturbs it on every rank.
Window join_windows(const Setting& setting, std::span<const RankWindow> ranks);

}  // namespace hypermile
