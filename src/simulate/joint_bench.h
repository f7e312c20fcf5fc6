// SPDX-License-Identifier: Apache-2.0
//
// One simulated job on several simulated GPUs of one model in virtual time, its ranks waiting for
// each other in every iteration, and what is measured of it: a Window for each rank from exact
// ticks and that GPU's sensors, and the joint one (control/joint_window.h). Cards differ by their
// seeds, ranks by their share of the work.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "control/joint_window.h"
#include "control/step_plan.h"
#include "measure/sampler.h"
#include "measure/window_builder.h"
#include "policy/policy.h"
#include "sim/sim_gpu.h"
#include "sim/sim_ranks.h"
#include "simulate/simulated_run.h"
#include "simulate/tick_reader.h"

namespace hypermile {

struct JointWindow {
  Window joint;
  std::vector<RankWindow> ranks;
};

class JointBench {
 public:
  // `work` as in SimRanks::start; its size is the number of GPUs. `job` must outlive it.
  JointBench(const SimulatedJob& job, std::vector<double> work);
  ~JointBench();

  const std::vector<GpuUuid>& gpus() const { return uuids_; }
  VirtualClock& clock() { return clock_; }
  bool running();
  double iterations();  // of the job so far
  Joules energy();      // true, of all GPUs since the start
  Seconds elapsed() const { return clock_.now() - begin_; }

  // Looks on at the default for long enough to plan Windows; kUsage for a job too short for that.
  Result<StepPlan> watch();
  // The clocks seen meanwhile.
  const Setting& default_values() const { return default_values_; }

  // Tells each GPU its Setting, those that have another one already; returns when it has settled.
  Result<void> change_to(std::span<const Setting> settings);
  // A Window at what the GPUs were told; nullopt where the job ended first. A pause of the job
  // begins it anew.
  Result<std::optional<JointWindow>> measure(const Setting& joint, const Step& step);

 private:
  struct Card;
  Result<void> poll();
  std::optional<JointWindow> close(const Setting& joint, bool aborted);

  const SimulatedJob& job_;
  VirtualClock clock_;
  std::vector<std::unique_ptr<Card>> cards_;
  std::vector<GpuUuid> uuids_;
  std::unique_ptr<SimRanks> ranks_;
  Instant begin_;
  Setting default_values_;
  StepPlan plan_;
};

}  // namespace hypermile
