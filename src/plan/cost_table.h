// SPDX-License-Identifier: Apache-2.0
//
// Time and energy of every step of a network at every Setting of a GPU, from the simulator's
// physics in closed form (sim/part_rate.h). The planner and the strategies see nothing else.
//
// The power limit: cards hold an average of power over tens of milliseconds, longer than a layer.
// So an SM clock that is left to the driver is, for each memory clock, the highest at which the
// whole iteration, run so, keeps within the limit; locks above it would not be honoured and are
// left out. The die is as warm as it gets under the default.
#pragma once

#include <vector>

#include "gpu/setting.h"
#include "plan/efficiency.h"
#include "plan/steps.h"
#include "sim/gpu_sheet.h"

namespace hypermile {

struct Choice {
  Setting setting;      // what the GPU is told
  Mhz sm, memory;       // what it then runs at
  bool capped = false;  // the power limit holds the SM clock there
};

struct StepCost {
  double time_s = 0;
  double energy_j = 0;
};

// How long a step's compute and memory units wait, out of its time: for the other, for nothing
// (launches), or because the kernel is no better.
struct StepIdle {
  double compute_s = 0;
  double memory_s = 0;
};

struct CostTable {
  std::vector<Choice> choices;  // the default first
  std::size_t steps = 0;
  std::vector<StepCost> costs;  // step-major: choices.size() for each step

  const StepCost& at(std::size_t step, std::size_t choice) const {
    return costs[step * choices.size() + choice];
  }
  // One iteration at one choice throughout.
  StepCost uniform(std::size_t choice) const;
};

// `steps` must not be empty.
CostTable make_cost_table(const GpuSheet& sheet, const std::vector<PlanStep>& steps,
                          const Efficiency& efficiency);

StepIdle idle_of(const GpuSheet& sheet, const PlanStep& step, const Efficiency& efficiency,
                 const Choice& choice);

// Operations per byte above which kernels on these pipes are bound by compute at these clocks.
double ridge(const GpuSheet& sheet, Precision precision, Mhz sm, Mhz memory);

// One step's time at fixed clocks, for the calibration.
double step_time(const GpuConstants& gpu, const std::vector<Kernel>& kernels,
                 const Efficiency& efficiency, Mhz sm, Mhz memory);

}  // namespace hypermile
