// SPDX-License-Identifier: Apache-2.0
//
// From a GPU and a network to the planner's problem: what a change of clocks costs on this card,
// and the bound on time.
#pragma once

#include <optional>

#include "plan/plan_problem.h"
#include "sim/gpu_sheet.h"

namespace hypermile {

struct Switching {
  // From request to effect of an SM clock. Without it the sheet's, late as one in ten comes. The
  // memory clock takes longer in the sheet's proportion, and stands still in the same.
  std::optional<Seconds> latency = {};
  // What the GPU loses to each call; nothing where another thread makes it.
  Seconds call = {};
  // At most so many changes a second; 0: as many as the latency allows.
  double most_per_second = 0;
};

PlanProblem make_problem(const GpuSheet& sheet, const CostTable& table, double max_slowdown,
                         const Switching& switching);

// The SM clock's latency that `switching` means on this card.
Seconds latency_of(const GpuSheet& sheet, const Switching& switching);

}  // namespace hypermile
