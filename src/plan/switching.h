// SPDX-License-Identifier: Apache-2.0
//
// Makes the planner's problem from a GPU and its cost table: what a change of clocks costs on this
// card, and the limit on time. Called by plan_report.cpp, break_even.cpp and plan_evidence; pure.
#pragma once

#include <optional>

#include "plan/plan_problem.h"
#include "sim/gpu_sheet.h"

namespace hypermile {

struct Switching {
  // From the request of an SM clock to its effect. Without it, the 90th percentile of the GPU's
  // sheet. The latency and the stall of the memory clock are scaled in the same proportion.
  std::optional<Seconds> latency = {};
  // GPU time that each call takes; 0 where another thread makes the calls.
  Seconds call = {};
  // A limit on changes per second; 0 for no other limit than the latency.
  double most_per_second = 0;
};

PlanProblem make_problem(const GpuSheet& sheet, const CostTable& table, double max_slowdown,
                         const Switching& switching);

// The latency of an SM clock on this card, given or from the sheet.
Seconds latency_of(const GpuSheet& sheet, const Switching& switching);

}  // namespace hypermile
