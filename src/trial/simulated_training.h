// SPDX-License-Identifier: Apache-2.0
//
// A simulated job as the training process that it stands for, on one simulated card or on several
// that wait for each other in every iteration (sim/sim_ranks.h). Its ring holds what the injected
// library or a framework's ticks would leave there: exact ticks, or launches (launch_player.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "sim/sim_gpu.h"
#include "sim/sim_ranks.h"
#include "trial/job_ring.h"
#include "trial/launch_player.h"
#include "trial/simulated_job.h"
#include "trial/virtual_rig.h"

namespace hypermile {

// The simulator's truth about a job so far, all cards together.
struct TrueTotals {
  double iterations = 0;
  double seconds = 0;  // since the clock began
  double joules = 0;
};
TrueTotals operator-(const TrueTotals& to, const TrueTotals& from);

class SimulatedTraining final : public VirtualJob {
 public:
  struct Terms {
    std::vector<SimGpuOptions> cards = {{}};
    std::vector<double> work = {};  // share of each card's work; where it is missing, 1
    ProgressKind progress = ProgressKind::kTicks;
    std::uint64_t seed = 1;  // of the launches
    bool gpu_times = true;   // whether launches get GPU times where they are wanted
  };
  // Starts the job now. `clock` and `job` must outlive it. kIo where no ring can be made.
  static Result<std::unique_ptr<SimulatedTraining>> start(VirtualClock& clock,
                                                          const SimulatedJob& job, Terms terms);
  // The same on one card, with the job's own seed, effects and progress.
  static Result<std::unique_ptr<SimulatedTraining>> start(VirtualClock& clock,
                                                          const SimulatedJob& job);
  ~SimulatedTraining() override;

  std::vector<Gpu*> cards() override;
  RingFolder& folder() override { return ring_->folder(); }
  void play(Instant now) override;

  SimGpu& card(std::size_t i = 0) { return *cards_[i]; }
  bool running() { return card().running(); }
  TrueTotals totals();

 private:
  SimulatedTraining(VirtualClock& clock, const SimulatedJob& job, Terms terms);
  void start_job();
  void watch_launches();
  void write_ticks();

  VirtualClock& clock_;
  const SimulatedJob& job_;
  Terms terms_;
  std::vector<std::unique_ptr<SimGpu>> cards_;
  std::optional<SimRanks> ranks_;  // only where there are several cards
  std::unique_ptr<JobRing> ring_;
  std::optional<LaunchPlayer> launches_;  // only where progress is seen by launches
  std::uint64_t ticks_ = 0;               // written so far
  double last_tick_s_ = 0;
};

}  // namespace hypermile
