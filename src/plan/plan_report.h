// SPDX-License-Identifier: Apache-2.0
//
// Everything `hypermile plan` finds out about one network on one GPU: its steps with their costs at
// the default, every strategy with its totals and idle times, the plan's segments, and how quick a
// switch has to be for each granularity to pay. Plain data; the command line prints it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/strategies.h"

namespace hypermile {

struct PlanOptions {
  Precision precision = Precision::kTf32;
  Scope scope = Scope::kTrain;
  bool fuse = false;
  double max_slowdown = 0.05;
  Switching switching = {};
  Efficiency efficiency = {};
  bool break_even = true;  // look for it: most of the work
};

struct StrategyReport {
  StrategyResult result;
  std::vector<StepIdle> idle;  // per step, at the choice it wanted
  StepIdle idle_sum;
};

// Consecutive steps at one Setting; after the last comes the first again.
struct PlanSegment {
  std::size_t from = 0, to = 0;  // first and last step; to < from where it goes round
  Choice choice;
  double time_s = 0;
};

// The longest latency of a switch at which plans of a kind save at least a thousandth of the
// default's energy more than one Setting for everything; nullopt: not even without latency.
struct BreakEven {
  std::optional<Seconds> layer;    // the optimum without latency, carried out as far as possible
  std::optional<Seconds> segment;  // the switch-aware plan
  std::optional<Seconds> phase;    // one Setting a phase
};

struct PlanReport {
  std::vector<PlanStep> steps;
  std::vector<StepCost> costs;     // per step, at the default
  std::vector<bool> memory_bound;  // per step, at the default
  CostTable table;
  Seconds latency;   // of a switch, as planned with
  double ridge = 0;  // of the precision's units at the default
  std::vector<StrategyReport> strategies;
  std::vector<PlanSegment> segments;  // of the switch-aware plan
  BreakEven break_even;
};

// kUsage where the network has nothing to run in this scope.
Result<PlanReport> make_plan_report(const Network& network, const GpuSheet& sheet,
                                    const PlanOptions& options);

}  // namespace hypermile
