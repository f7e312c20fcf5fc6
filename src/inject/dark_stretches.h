// SPDX-License-Identifier: Apache-2.0
//
// Stretches in which launches are not watched, because the controller knows the job's pattern and
// said until when it can do without (RingControl::dark_until_ns). CUPTI's own work at a launch is
// ten times ours, so only callbacks that are switched off cost nothing.
//
// CUPTI's switches are turned by one thread of our own, which sleeps otherwise and is started by
// the first such wish: never inside a callback, and no thread of the job waits. It blocks all
// signals. A forked child has no such thread and needs none.
#pragma once

#include <semaphore.h>

#include <cstdint>

#include "inject/ring_writer.h"

namespace hypermile {

class DarkStretches {
 public:
  // Turns the callbacks of launches on or off; called by our thread alone. False: no longer
  // possible, for ever.
  using Switch = bool (*)(bool on);

  constexpr DarkStretches() = default;

  // Once, before any launch. The ring is the process's.
  void start(Switch turn, RingWriter& ring);

  // At every launch that is watched: two loads unless the controller has something new to say.
  void on_launch(const RingControl& control, std::uint64_t now_ns) {
    const std::uint64_t until = __atomic_load_n(&control.dark_until_ns, __ATOMIC_RELAXED);
    if (until != __atomic_load_n(&seen_until_, __ATOMIC_RELAXED)) read_control(control, now_ns);
  }

 private:
  void read_control(const RingControl& control, std::uint64_t now_ns);
  bool start_thread();
  static void* run(void* self);
  void be_dark(std::uint64_t until_ns);

  Switch turn_ = nullptr;
  RingWriter* ring_ = nullptr;
  std::uint64_t seen_until_ = 0;  // of the controller
  std::uint64_t until_ns_ = 0;    // for the thread
  int thread_ = 0;                // 0: not started; 1: runs; 2: cannot
  sem_t wishes_ = {};
};

}  // namespace hypermile
