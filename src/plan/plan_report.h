// SPDX-License-Identifier: Apache-2.0
//
// Everything that `hypermile plan` computes for one network on one GPU: the stages with their costs
// at the default, the totals and idle times of every strategy, the plan's segments, and the switch
// latency below which each granularity pays. Plain data that the command prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/measured_table.h"
#include "plan/plan_error.h"
#include "plan/strategies.h"

namespace hypermile {

struct PlanOptions {
  Precision precision = Precision::kTf32;
  Scope scope = Scope::kTrain;
  bool fuse = false;
  double max_slowdown = 0.05;
  Switching switching = {};
  Efficiency efficiency = {};
  std::size_t micro_batches = 1;  // as in StageOptions, like the next three
  std::size_t checkpoints = 0;
  std::size_t gpus = 1;
  double link_bytes_per_s = 0;
  std::optional<MeasuredLayers> measured = {};
  bool break_even = true;  // whether to compute break_even, which is most of the work
};

struct StrategyReport {
  StrategyResult result;
  std::vector<StageIdle> idle;  // for each stage, at the choice that the strategy wanted
  StageIdle idle_sum;
  PlanError error;      // 0 where nothing was measured
  bool claimed = true;  // whether the saving is larger than its error
};

// Consecutive stages at one setting; the first stage follows the last.
struct PlanSegment {
  std::size_t from = 0, to = 0;  // first and last stage; to < from where the segment wraps around
  Choice choice;
  double time_s = 0;
};

// The longest switch latency at which plans of each kind save at least 0.1 % of the default's
// energy more than one setting throughout; nullopt where they do not save that even without
// latency.
struct BreakEven {
  std::optional<Seconds> layer;    // the optimum without latency, executed as well as possible
  std::optional<Seconds> segment;  // the switch-aware plan
  std::optional<Seconds> phase;    // one setting per phase
};

struct PlanReport {
  std::vector<PlanStage> stages;
  std::vector<StageCost> costs;    // at the default
  std::vector<bool> memory_bound;  // at the default
  CostTable table;
  Seconds latency;   // the switch latency that was assumed
  double ridge = 0;  // operations per byte, for the precision's units at the default
  std::vector<StrategyReport> strategies;
  std::string kept = "switch-aware";  // the strategy whose segments follow
  std::vector<PlanSegment> segments;
  std::optional<MeasuredTable> measured;  // with `table`, where layers were measured
  BreakEven break_even;
};

// Returns kUsage where the network runs nothing in this scope, or where the measured layers are of
// another card or network. With measured layers, the plan that is kept is the switch-aware one only
// where it saves more than one setting throughout by more than the error of the difference, and
// that only where it saves more than its error.
Result<PlanReport> make_plan_report(const Network& network, const GpuSheet& sheet,
                                    const PlanOptions& options);

}  // namespace hypermile
