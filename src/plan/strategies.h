// SPDX-License-Identifier: Apache-2.0
//
// Ways to choose a setting for each stage, by name: the two families of the Chalmers thesis, plain
// baselines, and the switch-aware planner. All assignments then go through the same executor, in
// which changes take time. Called by plan_report.cpp and plan_evidence; pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/planner.h"
#include "plan/switching.h"

namespace hypermile {

// What a strategy may use.
struct StrategyInput {
  const GpuSheet& sheet;
  const std::vector<PlanStage>& stages;
  Precision precision;
  const CostTable& table;
  const PlanProblem& problem;  // time limit and switch prices
  double max_slowdown;
};

struct StrategyResult {
  std::string name;
  Assignment wanted;
  PlanTotals totals;    // after execution
  double saved = 0;     // share of the default's energy
  double slowdown = 0;  // share of the default's time
};

// "default", "intensity", "exhaustive", "exhaustive-bounded", "uniform", "phase", "switch-aware".
std::span<const std::string_view> strategy_names();

// `name` must be one of strategy_names().
StrategyResult run_strategy(std::string_view name, const StrategyInput& input);

// Executes what a strategy wants on another problem of the same stages, and sets the totals.
void judge(StrategyResult& result, const PlanProblem& problem);

// Whether a stage's intensity makes it memory-bound at these clocks.
bool memory_bound(const GpuSheet& sheet, const PlanStage& stage, Precision precision,
                  const Choice& choice);

}  // namespace hypermile
