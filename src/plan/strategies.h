// SPDX-License-Identifier: Apache-2.0
//
// Ways to choose a Setting for each step, by name: the thesis's two families, plain baselines, and
// the switch-aware planner. What a strategy wants is one thing, what becomes of it another: all are
// run through the same executor, in which a change takes its time.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/planner.h"
#include "plan/switching.h"

namespace hypermile {

// What the strategies may look at.
struct StrategyInput {
  const GpuSheet& sheet;
  const std::vector<PlanStep>& steps;
  Precision precision;
  const CostTable& table;
  const PlanProblem& problem;  // bound and prices
  double max_slowdown;
};

struct StrategyResult {
  std::string name;
  Assignment wanted;
  PlanTotals totals;    // as executed
  double saved = 0;     // of the default's energy, as a fraction
  double slowdown = 0;  // of the default's time
};

// default, intensity, exhaustive, exhaustive-bounded, uniform, phase, switch-aware.
std::span<const std::string_view> strategy_names();

// `name` must be one of those.
StrategyResult run_strategy(std::string_view name, const StrategyInput& input);

// Whether a step is bound by memory at these clocks, by its intensity.
bool memory_bound(const GpuSheet& sheet, const PlanStep& step, Precision precision,
                  const Choice& choice);

}  // namespace hypermile
