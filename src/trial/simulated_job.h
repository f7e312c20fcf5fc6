// SPDX-License-Identifier: Apache-2.0
//
// A training job that is simulated on a simulated card, and what the simulator knows to be true of
// it. Everything that plays simulated jobs takes one.
#pragma once

#include <cstdint>
#include <vector>

#include "control/controller_options.h"
#include "policy/objective.h"
#include "sim/gpu_sheet.h"
#include "sim/sim_state.h"
#include "sim/workload.h"
#include "sweep/curve.h"

namespace hypermile {

// How the job's progress is seen.
enum class ProgressKind {
  kTicks,     // exact ticks, as a framework's callback reports them
  kLaunches,  // iterations that the launch detector finds
};

struct SimulatedJob {
  GpuSheet sheet;
  Workload workload;
  std::uint64_t iterations = 0;  // length of the job; 0: endless
  std::uint64_t seed = 1;
  Effects effects = {};
  Objective objective = {};
  std::vector<Knob> knobs = {Knob::kSmClock, Knob::kMemoryClock};
  ProgressKind progress = ProgressKind::kTicks;
  bool guard = false;            // whether the policies of others are kept within the bound too
  bool steady = false;           // one setting is kept: the job is not shared between two
  PredictForPhase predict = {};  // who predicts for the policies; empty: nobody
  bool counters = false;  // whether performance counters are read while features are collected
  double unix_time = 0;   // for the log
};

// Time and power in the steady state at every setting of this card under this job.
Curve truth_of(const SimulatedJob& job);

}  // namespace hypermile
