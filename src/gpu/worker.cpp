// SPDX-License-Identifier: Apache-2.0
#include "gpu/worker.h"

#include <fmt/format.h>

#include <cassert>
#include <chrono>
#include <vector>

namespace hypermile {

Worker::Worker() : state_(std::make_shared<State>()), thread_([state = state_] { serve(state); }) {}

Worker::~Worker() {
  bool leave_behind = false;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
    leave_behind = state_->busy;
  }
  state_->changed.notify_one();
  if (leave_behind) {
    keep_forever(std::move(late_result_));
    thread_.detach();
  } else {
    thread_.join();
  }
}

bool Worker::idle() const {
  const std::lock_guard lock(state_->mutex);
  return !state_->busy;
}

void Worker::serve(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  for (;;) {
    state->changed.wait(lock, [&] { return state->job || state->stop; });
    if (!state->job) return;
    std::function<void()> job = std::exchange(state->job, nullptr);
    lock.unlock();
    job();
    job = nullptr;  // frees what the job owns before the caller sees that the job is over
    lock.lock();
    state->busy = false;
    const bool stop = state->stop;
    lock.unlock();
    state->changed.notify_one();
    if (stop) return;
    lock.lock();
  }
}

// This runs fifty times a second for every GPU, so it notifies after it has released the mutex.
// Only one side ever waits: the thread for a job, or the caller for its end.
void Worker::hand_over(std::function<void()> job) {
  {
    const std::lock_guard lock(state_->mutex);
    assert(!state_->busy);
    state_->job = std::move(job);
    state_->busy = true;
  }
  state_->changed.notify_one();
}

bool Worker::wait_until_idle(Seconds deadline) {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, std::chrono::duration<double>(deadline.value()),
                                  [this] { return !state_->busy; });
}

Error deadline_passed(std::string_view what, Seconds deadline) {
  return Error{ErrorCode::kTimeout,
               fmt::format("cannot {}: no answer within {:g} s", what, deadline.value()),
               "the driver or GPU may hang; see dmesg for Xid messages"};
}

void keep_forever(std::shared_ptr<void> thing) {
  // These are never destroyed, because abandoned threads may outlive every static object.
  static std::mutex* const mutex = new std::mutex;
  static auto* const kept = new std::vector<std::shared_ptr<void>>;
  const std::lock_guard lock(*mutex);
  kept->push_back(std::move(thing));
}

}  // namespace hypermile
