// SPDX-License-Identifier: Apache-2.0
//
// A Gpu that always answers in time. Calls of NVML can block for seconds or for ever; here a thread
// of its own makes every call on the wrapped Gpu, and a caller waits for it only so long. One sick
// GPU therefore never delays another, nor the loop that watches them all.
//
// After a call that hangs the GPU is unhealthy: further calls fail at once with kTimeout. After a
// pause that doubles each time the next call tries again, with the same thread if its call has
// returned meanwhile, else with a new thread and a newly opened Gpu, three times at most; after
// that only a hung call that returns makes the GPU healthy again.
//
// A setter that timed out may still take effect later. Whoever must leave the GPU at its default
// resets it after settled() is true again, and reads back.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "gpu/gpu.h"
#include "gpu/worker.h"

namespace hypermile {

class DeadlineGpu final : public Gpu {
 public:
  struct Options {
    Seconds deadline = Seconds(2);        // of real time, for each call
    Seconds open_deadline = Seconds(20);  // a driver without persistence wakes its cards first
    Seconds first_pause = Seconds(5);     // on the clock given to open()
    int most_abandoned = 3;               // threads left behind
  };
  // Opens the GPU to be wrapped. Called on the worker thread, again after every abandonment. A call
  // that hangs may outlive everything, so it and the Gpu it opens own what they use, clock
  // included.
  using Opener = std::function<Result<std::unique_ptr<Gpu>>()>;

  // `clock` must outlive the result, which one thread uses at a time.
  static Result<std::unique_ptr<DeadlineGpu>> open(Opener opener, Clock& clock, Options options);
  ~DeadlineGpu() override;

  // As they were when first opened.
  const GpuIdentity& identity() const override { return identity_; }
  const Capabilities& capabilities() const override { return capabilities_; }

  Result<Sample> read(SensorSet wanted) override;
  Result<std::vector<TimedPower>> power_history(Instant after) override;
  // Never waits: a round is given by the first poll after it was done, or has timed out.
  PolledRounds poll(const SensorWish& wish) override;
  Result<ActivityMetrics> activity() override;
  Result<std::vector<GpuProcess>> processes() override;
  ApplyOutcome apply(const Setting& setting) override;
  Result<void> reset(Knob knob) override;
  // Calls that have returned; one that was given up on counts when it does, with all of its time.
  CallTimes call_times() const override { return recorder_->times(); }

  bool healthy() const { return !hung_since_.has_value(); }
  // False while a call that was given up on has not returned, on whichever thread: if it is a
  // setter it may still take effect.
  bool settled() const { return *under_way_ == 0; }

 private:
  // The worker and the GPU that only it calls.
  struct Session {
    Worker worker;
    std::shared_ptr<Gpu> gpu;  // null until opened
  };

  // A round of polling that was started and not yet taken.
  struct RoundUnderWay {
    SensorWish wish;
    Worker::Started<SensorRound> result;
    std::chrono::steady_clock::time_point since;
  };

  DeadlineGpu(Opener opener, Clock& clock, Options options);
  // A job for the worker; under way until it has returned, see settled().
  template <class Function>
  auto counted(Function function);
  template <class Function>
  auto call(const char* kind, std::string_view what, Function function)
      -> Result<std::invoke_result_t<Function&, Gpu&>>;
  Result<void> make_ready();
  Result<void> open_session();
  void abandon_session();
  // Takes the round under way if it is done or has timed out; waits for that where `wait`.
  void take_round(bool wait);
  void note_hang();
  void note_answer();
  Error unhealthy() const;

  Opener opener_;
  Clock& clock_;
  Options options_;
  GpuIdentity identity_;
  Capabilities capabilities_;
  std::unique_ptr<Session> session_;
  std::optional<Instant> hung_since_;
  Instant try_again_;
  Seconds pause_;
  int abandoned_ = 0;
  std::optional<RoundUnderWay> under_way_round_;
  std::optional<SensorRound> done_round_;  // not yet given
  std::shared_ptr<CallRecorder> recorder_ = std::make_shared<CallRecorder>();
  std::shared_ptr<std::atomic<int>> under_way_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace hypermile
