// SPDX-License-Identifier: Apache-2.0
//
// A thread for calls that may never return. A driver call that hangs cannot be cancelled, so the
// caller stops waiting for it and the thread is left behind.
//
// What makes that safe: a job and its result live in memory that the thread owns together with the
// caller, never on the caller's stack; a thread left behind touches nothing else when its call
// returns at last, and ends; it holds no lock while the job runs. At the end of the process such a
// thread is simply cut off by the kernel. What the job works on must live as long as the job may
// run: give it shared ownership, and keep_forever() what must not even be destroyed at a random
// later moment on that thread. A result that comes after its thread was left behind is kept so,
// too: it may be a library whose closing calls the driver.
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
  // Joins the thread when it is idle; leaves it behind when it is not.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  bool idle() const;

  // What a call that was started will give; empty until it has returned.
  template <class Value>
  using Started = std::shared_ptr<std::optional<Value>>;

  // Starts `function` on the thread. Only when idle().
  template <class Function, class Value = std::invoke_result_t<Function&>>
  Started<Value> start(Function function) {
    const auto slot = std::make_shared<std::optional<Value>>();
    late_result_.reset();
    hand_over([slot, function = std::move(function)]() mutable { slot->emplace(function()); });
    return slot;
  }

  // The result of what was started last; nullopt when it has not returned after `deadline` of real
  // time from now, in which case it goes on and its result is dropped.
  template <class Value>
  std::optional<Value> wait(const Started<Value>& started, Seconds deadline) {
    if (wait_until_idle(deadline)) return std::move(*started);
    late_result_ = started;
    return std::nullopt;
  }

  // Both.
  template <class Function>
  auto call(Function function, Seconds deadline) {
    return wait(start(std::move(function)), deadline);
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::function<void()> job;  // empty when there is none
    bool busy = false;
    bool stop = false;
  };
  static void serve(const std::shared_ptr<State>& state);
  void hand_over(std::function<void()> job);
  bool wait_until_idle(Seconds deadline);

  std::shared_ptr<State> state_;
  std::shared_ptr<void> late_result_;  // of the call that was given up
  std::thread thread_;
};

Error deadline_passed(std::string_view what, Seconds deadline);

// Keeps `thing` until the process is gone, reachable for leak checkers.
void keep_forever(std::shared_ptr<void> thing);

// For one call, such as opening NVML: `function` returns a Result and owns all that it uses.
// kTimeout, naming `what`, when it does not return in time.
template <class Function>
std::invoke_result_t<Function&> call_with_deadline(std::string_view what, Seconds deadline,
                                                   Function function) {
  Worker worker;
  auto result = worker.call(std::move(function), deadline);
  if (!result) return deadline_passed(what, deadline);
  return *std::move(result);
}

}  // namespace hypermile
