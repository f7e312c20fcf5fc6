// SPDX-License-Identifier: Apache-2.0
//
// A simulated job on a simulated GPU in virtual time, and what is measured of it: Windows from
// ticks and the GPU's own sensors, by the same sampler and builder as on a
// real card. A Window begins and ends with an iteration, so it holds whole ones.
#pragma once

#include <optional>

#include "base/clock.h"
#include "control/step_plan.h"
#include "measure/sampler.h"
#include "measure/window_builder.h"
#include "policy/policy.h"
#include "sim/sim_gpu.h"
#include "trial/simulated_run.h"
#include "trial/tick_reader.h"

namespace hypermile {

class Bench {
 public:
  // `job` must outlive it.
  explicit Bench(const SimulatedJob& job);

  VirtualClock& clock() { return clock_; }
  SimGpu& gpu() { return gpu_; }

  Result<void> start();

  // Looks on at the default for long enough to plan Windows. kUsage for a job too short for that;
  Result<StepPlan> watch();
  // The clocks seen meanwhile.
  const Setting& default_values() const { return default_values_; }

  // Returns when the Setting has settled.
  Result<void> change_to(const Setting& setting);

  // One Window at the Setting in force; nullopt where the job ended first. A pause of the job (an
  // evaluation, a checkpoint) is not measured: the Window ends before it or begins anew behind it,
  // so it may be shorter than asked for. Pauses that come all the time are part of the job.
  Result<std::optional<Window>> measure(const Setting& setting, const Step& step);

  // Of the whole job so far, as the clock and the energy counter say.
  Seconds elapsed() const { return last_ - begin_; }
  std::optional<Joules> energy();

 private:
  Result<SamplerReading> poll();
  // Waits for what the Window's last iteration still needs.
  Result<Window> close(WindowBuilder& builder);
  // Whether the job paused between two ticks in a way that a Window must not contain.
  bool cuts(const Tick& before, const Tick& after);

  const SimulatedJob& job_;
  VirtualClock clock_;
  SimGpu gpu_;
  TickReader progress_;
  Sampler sampler_;
  Instant begin_;
  Instant last_;
  std::optional<Joules> first_energy_;
  Setting default_values_;
  StepPlan plan_;
  std::uint64_t last_pause_ = 0;  // the iteration behind it
};

}  // namespace hypermile
