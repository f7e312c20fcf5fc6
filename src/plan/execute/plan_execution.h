// SPDX-License-Identifier: Apache-2.0
//
// Carries out a plan (docs/design/planner.md) beside a job that reports where it is. It takes the
// job's segment boundaries from a queue and requests each setting so early that it acts when its
// segment begins, one request at a time and within a rate. First it tries the plan against the
// default and the best single setting. The job's thread only calls post(), which never waits; one
// other thread calls round() and sleeps until the instant that round() returns. Used by the Python
// package.
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
  Seconds expected;  // the planner's estimate of its duration
};

struct PlanExecutionOptions {
  std::vector<PlannedSegment> segments;  // of one iteration, in order; at least one
  Setting uniform;                       // the best single setting
  Seconds latency = milliseconds(20);    // from a request to its effect
  double most_per_second = 20;           // requests
  std::optional<PlanTrialOptions> trial =
      PlanTrialOptions{};  // without it, the plan is carried out without a trial
};

struct ExecutionReport {
  std::string state = "claiming";  // "claiming", "learning", "trial", "keeping", "refused", "over"
  std::string reason;              // why it is in that state, for people
  PlanArm arm = PlanArm::kDefault;
  std::uint64_t boundaries = 0;  // taken from the queue
  std::uint64_t dropped = 0;     // lost because the queue was full
  std::uint64_t iterations = 0;
  std::uint64_t requests = 0;
  std::uint64_t failed = 0;
  std::size_t blocks = 0;  // measured in the trial
  std::optional<PlanVerdict> verdict;
};

class PlanExecution {
 public:
  // `port`, `gpu` and `clock` must outlive it. The first round() claims `gpu`.
  PlanExecution(PlanExecutionOptions options, SettingPort& port, Gpu& gpu, Clock& clock);

  // Says that segment `number` begins at `at`. Called by one thread at a time, any thread. An
  // unknown number is ignored.
  void post(std::uint32_t number, Instant at);

  // Does everything that is due, and returns the instant of the next call.
  Instant round();
  // Gives the GPU back.
  void finish();
  bool done() const { return done_; }

  // May be called from any thread.
  ExecutionReport report() const;

 private:
  struct Passed {
    std::uint32_t number = 0;
    std::int64_t ns = 0;
  };
  static constexpr std::size_t kQueue = 4096;
  enum class State { kClaiming, kHeld, kRefused, kOver };

  void take_boundaries();
  void take_answers();
  // Whether settings may be requested.
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

  State state_ = State::kClaiming;
  std::string reason_;
  Setting asked_;            // the last request; empty for the default
  bool answer_due_ = false;  // whether the last request is unanswered
  std::optional<Instant> asked_at_;
  std::atomic<bool> done_ = false;
  std::uint64_t boundaries_ = 0, iterations_ = 0, requests_ = 0, failed_ = 0;

  mutable std::mutex mutex_;  // protects report_
  ExecutionReport report_;
};

}  // namespace hypermile
