// SPDX-License-Identifier: Apache-2.0
//
// Dark stretches are times in which launches are not watched, because the controller already knows
// the job's pattern and said how long it can do without launches (RingControl::dark_until_ns).
// CUPTI's own work at a launch costs ten times as much as ours, so only callbacks that are switched
// off cost nothing.
//
// One thread of our own switches CUPTI's callbacks, never a callback itself, so no thread of the
// job waits. The first wish starts this thread; it blocks all signals and sleeps between wishes. A
// forked child has no such thread and needs none.
#pragma once

#include <semaphore.h>

#include <cstdint>

#include "inject/ring_writer.h"

namespace hypermile {

class DarkStretches {
 public:
  // Turns the launch callbacks on or off; only our thread calls it. Returns false if that is no
  // longer possible in this process.
  using Switch = bool (*)(bool on);

  constexpr DarkStretches() = default;

  // Called once, before any launch. `ring` is the ring of this process.
  void start(Switch turn, RingWriter& ring);

  // Called at every watched launch. Costs two loads unless the controller's wish has changed.
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
  std::uint64_t seen_until_ = 0;  // the controller's last wish
  std::uint64_t until_ns_ = 0;    // the wish that the thread shall fulfil
  int thread_ = 0;                // 0: not started; 1: running; 2: could not start
  sem_t wishes_ = {};
};

}  // namespace hypermile
