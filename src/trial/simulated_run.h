// SPDX-License-Identifier: Apache-2.0
//
// One simulated training job under one policy, in virtual time: asks the policy, applies its
// Setting to the simulated GPU, lets it settle, measures a Window from its progress and the GPU's
// sensors by the same means as on a real card, and writes all of it to an event log. A plain
// loop for judging policies; `simulate`, `demo` and the evidence call it.
//
// Nothing here depends on real time: equal jobs and policies write equal logs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "policy/objective.h"
#include "record/event_log.h"
#include "sim/gpu_sheet.h"
#include "sim/sim_state.h"
#include "sim/workload.h"
#include "sweep/curve.h"

namespace hypermile {

// How the job's progress is seen.
enum class ProgressKind {
  kTicks,     // exact, as a framework's callback tells
  kLaunches,  // found by the launch detector
};

struct SimulatedJob {
  GpuSheet sheet;
  Workload workload;
  std::uint64_t iterations = 0;  // length of the job; not 0
  std::uint64_t seed = 1;
  Effects effects = {};
  Objective objective = {};
  std::vector<Knob> knobs = {Knob::kSmClock, Knob::kMemoryClock};
  ProgressKind progress = ProgressKind::kTicks;
  double unix_time = 0;  // for the log
};

// Told of every Window as it is measured, for live lines.
struct LiveWindow {
  std::string_view policy;
  const Window& window;
  double progress = 0;     // of the job, 0..1
  bool exploring = false;  // a probe
};
using WindowListener = std::function<void(const LiveWindow& live)>;

// What the simulator knows to be true of this card under this job: every Setting the policies may
// choose from with its time and power in the steady state.
Curve truth_of(const SimulatedJob& job);

// Plays the job to its end, or until `stop`. kUsage where the policy is refused; kInternal where it
// leaves its list; otherwise what the log's sink says.
//
// The log's run_end holds seconds, joules and iterations of the whole job as measured, and under
// names that begin with true_ what truth_of() says of the Setting kept and of the best one; a
// decision of the policy "truth" names that best one.
Result<void> play(const SimulatedJob& job, const Curve& truth, std::string_view policy,
                  std::unique_ptr<LineSink> sink, const WindowListener& listener = {},
                  std::stop_token stop = {});

}  // namespace hypermile
