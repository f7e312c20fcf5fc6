// SPDX-License-Identifier: Apache-2.0
//
// A simulated job on a simulated GPU in virtual time, and what is measured of it: Windows from
// exact ticks and the GPU's own sensors. Window boundaries are ticks, so a Window holds whole
// iterations.
#pragma once

#include <optional>

#include "base/clock.h"
#include "measure/window.h"
#include "policy/policy.h"
#include "sim/sim_gpu.h"
#include "simulate/simulated_run.h"
#include "simulate/tick_reader.h"
#include "simulate/window_plan.h"

namespace hypermile {

class Bench {
 public:
  // `job` must outlive it.
  explicit Bench(const SimulatedJob& job);

  VirtualClock& clock() { return clock_; }
  SimGpu& gpu() { return gpu_; }

  Result<void> start();

  // Looks on at the default for long enough to plan Windows. kUsage for a job too short for that.
  Result<WindowPlan> watch();
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
  std::optional<Joules> energy() const;

 private:
  Result<Sample> poll();
  // Whether the job paused between two ticks in a way that a Window must not contain.
  bool cuts(const Tick& before, const Tick& after);

  const SimulatedJob& job_;
  VirtualClock clock_;
  SimGpu gpu_;
  TickReader ticks_;
  Instant begin_;
  Instant last_;
  std::optional<Joules> first_energy_;
  std::optional<Joules> last_energy_;
  Setting default_values_;
  WindowPlan plan_;
  std::uint64_t last_pause_ = 0;  // the iteration behind it
};

}  // namespace hypermile
