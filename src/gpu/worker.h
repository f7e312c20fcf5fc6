// SPDX-License-Identifier: Apache-2.0
//
// A thread for calls that may never return. A hung driver call cannot be cancelled, so the caller
// stops waiting and leaves the thread behind.
//
// This is safe because a job and its result live in memory that thread and caller own together,
// never on the caller's stack. An abandoned thread touches nothing else when its call returns,
// holds no lock during the job, and ends; when the process exits first, the kernel ends it.
// Whatever a job uses must therefore be shared with the job. Pass an object to keep_forever() if it
// must not even be destroyed on that thread later. Late results are kept for ever too, because a
// result may own a library whose closing calls the driver.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "base/units.h"

namespace hypermile {

// Used by one thread at a time.
class Worker {
 public:
  Worker();
  // Joins an idle thread; leaves a busy one behind.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  bool idle() const;

  // The result of a started call; empty until the call has returned.
  template <class Value>
  using Started = std::shared_ptr<std::optional<Value>>;

  // Starts `function` on the thread. Allowed only when idle().
  template <class Function, class Value = std::invoke_result_t<Function&>>
  Started<Value> start(Function function) {
    const auto slot = std::make_shared<std::optional<Value>>();
    late_result_.reset();
    hand_over([slot, function = std::move(function)]() mutable { slot->emplace(function()); });
    return slot;
  }

  // Waits for the call that was started last. Returns nullopt if it has not returned within
  // `deadline` of real time; the call then goes on and its result is dropped.
  template <class Value>
  std::optional<Value> wait(const Started<Value>& started, Seconds deadline) {
    if (wait_until_idle(deadline)) return std::move(*started);
    late_result_ = started;
    return std::nullopt;
  }

  template <class Function>
  auto call(Function function, Seconds deadline) {
    return wait(start(std::move(function)), deadline);
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::function<void()> job;  // empty when there is no job
    bool busy = false;
    bool stop = false;
  };
  static void serve(const std::shared_ptr<State>& state);
  void hand_over(std::function<void()> job);
  bool wait_until_idle(Seconds deadline);

  std::shared_ptr<State> state_;
  std::shared_ptr<void> late_result_;  // result of a call that timed out
  std::thread thread_;
};

Error deadline_passed(std::string_view what, Seconds deadline);

// Keeps `thing` until the process ends, where leak checkers can still find it.
void keep_forever(std::shared_ptr<void> thing);

// Runs one call, such as opening NVML, on a temporary thread. `function` returns a Result and owns
// all that it uses. kTimeout, naming `what`, if it does not return in time.
template <class Function>
std::invoke_result_t<Function&> call_with_deadline(std::string_view what, Seconds deadline,
                                                   Function function) {
  Worker worker;
  auto result = worker.call(std::move(function), deadline);
  if (!result) return deadline_passed(what, deadline);
  return *std::move(result);
}

}  // namespace hypermile
