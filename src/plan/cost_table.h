// SPDX-License-Identifier: Apache-2.0
//
// Time and energy of every stage of a network at every setting of a GPU, in closed form from the
// simulator's physics (sim/part_rate.h). The planner and the strategies see nothing else. Pure.
//
// A card limits its power averaged over tens of milliseconds, which is longer than a layer. So for
// each memory clock, an unlocked SM clock is the highest at which the whole iteration stays within
// the limit. A lock above that clock would not be honoured and is left out. The die has the
// temperature that it reaches at the default setting.
#pragma once

#include <optional>
#include <vector>

#include "gpu/setting.h"
#include "plan/efficiency.h"
#include "plan/stages.h"
#include "sim/gpu_sheet.h"

namespace hypermile {

struct Choice {
  Setting setting;      // the request to the GPU
  Mhz sm, memory;       // the clocks at which the GPU then runs
  bool capped = false;  // whether the power limit holds the SM clock down
};

struct StageCost {
  double time_s = 0;
  double energy_j = 0;
};

// For how much of a stage's time its compute or memory units idle, because they wait for the other
// units or for a launch, or because the kernel does not use them fully.
struct StageIdle {
  double compute_s = 0;
  double memory_s = 0;
};

struct CostTable {
  std::vector<Choice> choices;  // the default is the first
  std::size_t stages = 0;
  std::vector<StageCost> costs;  // choices.size() entries for each stage

  const StageCost& at(std::size_t stage, std::size_t choice) const {
    return costs[stage * choices.size() + choice];
  }
  // The cost of one iteration that runs at one choice.
  StageCost uniform(std::size_t choice) const;
};

// `stages` must not be empty. `held` is the SM clock that the driver was seen to hold at the
// default; without it, it is modelled.
CostTable make_cost_table(const GpuSheet& sheet, const std::vector<PlanStage>& stages,
                          const Efficiency& efficiency, std::optional<Mhz> held = {});

StageIdle idle_of(const GpuSheet& sheet, const PlanStage& stage, const Efficiency& efficiency,
                  const Choice& choice);

// The operations per byte above which a kernel is compute-bound at these clocks.
double ridge(const GpuSheet& sheet, Precision precision, Mhz sm, Mhz memory);

// The time in seconds of one stage at fixed clocks; the calibration uses it.
double stage_time(const GpuConstants& gpu, const std::vector<Kernel>& kernels,
                  const Efficiency& efficiency, Mhz sm, Mhz memory);

}  // namespace hypermile
