// SPDX-License-Identifier: Apache-2.0
//
// A simulated job as the training process that it stands for, on one simulated card or on several
// that wait for each other in every iteration (sim/sim_ranks.h). Its ring holds what the injected
// library or a framework's ticks would leave there: exact ticks; or launches, with GPU times where
// the reader wants events, and nothing while the reader wants to see nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "sim/launches.h"
#include "sim/sim_gpu.h"
#include "sim/sim_ranks.h"
#include "trial/job_ring.h"
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

class SimulatedTraining final : public VirtualJob, private JobObserver, private LaunchSink {
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

  // A GPU time that the reader wants and the GPU has not reached yet.
  struct PendingTime {
    std::uint64_t launch = 0;  // its record
    double gpu_s = 0;
  };

  void finished(const FinishedUnit& unit) override;
  void launch(double time_s, double gpu_s, std::uint32_t kernel) override;
  std::uint32_t name_of(std::uint32_t kernel);
  void write_ticks();
  void write_gpu_times(double now_s);
  void heed_wish(double time_s);
  void watch_again(double time_s);
  std::uint64_t ns(double time_s) const { return JobRing::ns(cards_.front()->instant(time_s)); }

  VirtualClock& clock_;
  const SimulatedJob& job_;
  Terms terms_;
  std::vector<std::unique_ptr<SimGpu>> cards_;
  std::optional<SimRanks> ranks_;  // only where there are several cards
  LaunchEmitter emitter_;
  std::unique_ptr<JobRing> ring_;

  std::uint64_t ticks_ = 0;  // written so far
  double last_tick_s_ = 0;

  std::vector<std::uint32_t> names_;  // the ring's id + 1 of each kernel; 0: not yet known
  std::uint32_t previous_ = kNoName;  // kernel launched last
  std::vector<PendingTime> pending_;
  double last_event_s_ = -1;
  double played_s_ = 0;                 // the job was brought up to this time
  std::optional<double> dark_until_s_;  // launches are not recorded until then
  std::uint64_t heeded_ = 0;            // the reader's last wish for darkness that was followed
};

}  // namespace hypermile
