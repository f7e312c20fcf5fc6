// SPDX-License-Identifier: Apache-2.0
//
// Carries out a plan (docs/design/planner.md) beside a job that says where it is: takes boundaries
// from a queue, asks for the Setting that will be wanted when the request acts, one request at a
// time and so many a second at most, and has the plan tried against the default and the best single
// Setting first. The job's thread calls post() alone, which never waits; everything else is one
// other thread's, which sleeps until round() says.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "control/setting_port.h"
#include "gpu/gpu.h"
#include "measure/sampler.h"
#include "plan/execute/plan_trial.h"
#include "plan/execute/spsc_queue.h"
#include "plan/execute/switch_timer.h"

namespace hypermile {

struct PlannedSegment {
  Setting setting;
  Seconds expected;  // how long the planner thinks it lasts
};

struct PlanExecutionOptions {
  std::vector<PlannedSegment> segments;  // of one iteration, in order; at least one
  Setting uniform;                       // the best single Setting
  Seconds latency = milliseconds(20);    // from asking to acting
  double most_per_second = 20;           // requests
  std::optional<PlanTrialOptions> trial =
      PlanTrialOptions{};  // none: the plan is carried out untried
};

struct ExecutionReport {
  std::string state = "claiming";  // "claiming", "learning", "trial", "keeping", "refused", "over"
  std::string reason;              // of that state, for people
  PlanArm arm = PlanArm::kDefault;
  std::uint64_t boundaries = 0;  // taken
  std::uint64_t dropped = 0;     // the queue was full
  std::uint64_t iterations = 0;
  std::uint64_t requests = 0;
  std::uint64_t failed = 0;
  std::size_t blocks = 0;  // of the trial
  std::optional<PlanVerdict> verdict;
};

class PlanExecution {
 public:
  // `port`, `gpu` and `clock` must outlive it. Claims `gpu` at the first round.
  PlanExecution(PlanExecutionOptions options, SettingPort& port, Gpu& gpu, Clock& clock);

  // Segment `number` begins now. Any thread, one at a time; a number that is none is passed over.
  void post(std::uint32_t number, Instant at);

  // One look at everything; returns when the next is due.
  Instant round();
  // Gives the GPU back.
  void finish();
  bool done() const { return done_; }

  // Any thread.
  ExecutionReport report() const;

 private:
  struct Passed {
    std::uint32_t number = 0;
    std::int64_t ns = 0;
  };
  static constexpr std::size_t kQueue = 4096;
  enum class Stage { kClaiming, kHeld, kRefused, kOver };

  void take_boundaries();
  void take_answers();
  // Whether Settings may be asked for.
  bool held();
  void stop_asking(std::string reason);
  PlanArm arm() const;
  Setting wanted(Instant now) const;
  void ask(const Setting& setting, Instant now);
  void sample();
  Instant next_look(Instant now) const;
  void publish();

  PlanExecutionOptions options_;
  SettingPort& port_;
  Gpu& gpu_;
  Clock& clock_;
  SwitchTimer timer_;
  std::optional<PlanTrial> trial_;
  Sampler sampler_;

  SpscQueue<Passed, kQueue> queue_;
  std::atomic<std::uint64_t> dropped_ = 0;

  Stage stage_ = Stage::kClaiming;
  std::string reason_;
  Setting asked_;            // last; the default before
  bool answer_due_ = false;  // of what was asked
  std::optional<Instant> asked_at_;
  std::atomic<bool> done_ = false;
  std::uint64_t boundaries_ = 0, iterations_ = 0, requests_ = 0, failed_ = 0;

  mutable std::mutex mutex_;  // of the report
  ExecutionReport report_;
};

}  // namespace hypermile
