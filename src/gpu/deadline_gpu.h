// SPDX-License-Identifier: Apache-2.0
//
// A Gpu whose calls always return in time. NVML can block for seconds or for ever, so a worker
// thread makes every call on the wrapped Gpu and the caller waits only until a deadline. A GPU that
// hangs therefore never delays another GPU or the loop that watches them all.
//
// After a call hangs, the GPU is unhealthy and further calls fail at once with kTimeout. After a
// pause, which doubles each time, the next call tries again: on the same thread if the hung call
// has returned by then, else on a new thread with a newly opened Gpu. After three new threads, the
// GPU recovers only when a hung call returns.
//
// A setter that timed out may still take effect later. To leave the GPU at its default, wait until
// settled() is true, then reset it and read it back.
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
    Seconds deadline = Seconds(2);  // real time for one call
    // A driver without persistence mode must wake the card first.
    Seconds open_deadline = Seconds(20);
    Seconds first_pause = Seconds(5);  // measured on the clock given to open()
    int most_abandoned = 3;            // how many hung threads may be left behind
  };
  // Opens the GPU to be wrapped. Runs on the worker thread, and again after each abandoned thread.
  // A hung call may outlive everything else, so the opener and its Gpu must own all that they use,
  // the clock included.
  using Opener = std::function<Result<std::unique_ptr<Gpu>>()>;

  // `clock` must outlive the result. One thread at a time uses the result.
  static Result<std::unique_ptr<DeadlineGpu>> open(Opener opener, Clock& clock, Options options);
  ~DeadlineGpu() override;

  // Both describe the GPU as it was when it was first opened.
  const GpuIdentity& identity() const override { return identity_; }
  const Capabilities& capabilities() const override { return capabilities_; }

  Result<Sample> read(SensorSet wanted) override;
  Result<std::vector<TimedPower>> power_history(Instant after) override;
  // Never waits. A round's result comes with the first poll after the round finished or timed out.
  PolledRounds poll(const SensorWish& wish) override;
  Result<ActivityMetrics> activity() override;
  Result<std::vector<GpuProcess>> processes() override;
  ApplyOutcome apply(const Setting& setting) override;
  Result<void> reset(Knob knob) override;
  // Covers calls that have returned. A call that timed out is counted when it returns, with its
  // whole duration.
  CallTimes call_times() const override { return recorder_->times(); }

  bool healthy() const { return !hung_since_.has_value(); }
  // False while a call that timed out is still running on any thread. Such a setter may still take
  // effect.
  bool settled() const { return *under_way_ == 0; }

 private:
  // A worker thread, and the GPU that only this thread calls.
  struct Session {
    Worker worker;
    std::shared_ptr<Gpu> gpu;  // null until opened
  };

  // A polling round that was started and whose result was not yet collected.
  struct RoundUnderWay {
    SensorWish wish;
    Worker::Started<SensorRound> result;
    std::chrono::steady_clock::time_point since;
  };

  DeadlineGpu(Opener opener, Clock& clock, Options options);
  // Wraps a function for the worker so that settled() is false until the function returns.
  template <class Function>
  auto counted(Function function);
  template <class Function>
  auto call(const char* kind, std::string_view what, Function function)
      -> Result<std::invoke_result_t<Function&, Gpu&>>;
  Result<void> make_ready();
  Result<void> open_session();
  void abandon_session();
  // Collects the running round if it has finished or timed out; with `wait`, waits for that first.
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
  std::optional<SensorRound> done_round_;  // finished, but not yet returned by poll()
  std::shared_ptr<CallRecorder> recorder_ = std::make_shared<CallRecorder>();
  std::shared_ptr<std::atomic<int>> under_way_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace hypermile
