// SPDX-License-Identifier: Apache-2.0
//
// Times of launches on the GPU's own clock. At the boundary that the controller named, at most one
// every 50 ms, a CUDA event from a pool is recorded on the launching stream just before the launch;
// later launches ask whether it has happened (never waiting), and the time since the previous event
// becomes a record. Where the program tells its steps itself (NVTX, ticks), the event goes before
// the first launch after a step, of the thread that told it. Called from the launch callback by any
// thread; whoever finds another thread at it goes on without.
//
// A pool belongs to a context and is made when a boundary is first met there. It is only touched
// while that context launches, so never after it was destroyed.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "inject/driver.h"
#include "inject/ring_writer.h"

namespace hypermile {

// A launch as far as events are concerned.
struct LaunchPlace {
  std::uint32_t kernel;
  std::uint32_t context_uid;
  cuda::Handle stream;
};

// What an event is to be the time of.
struct Mark {
  std::uint64_t number;  // of a launch or step, or of a tick in the ring of ticks
  bool tick;
};

class GpuEvents {
 public:
  constexpr GpuEvents() = default;

  // Once, before any launch.
  void start(const Driver& driver);

  // Before a launch, whose record has `number`. A few loads when there is nothing to do.
  void on_launch(RingWriter& ring, const LaunchPlace& launch, std::uint64_t number,
                 std::uint64_t now_ns) {
    const std::uint64_t revision = __atomic_load_n(&ring.control().revision, __ATOMIC_ACQUIRE);
    if (revision != __atomic_load_n(&seen_revision_, __ATOMIC_RELAXED))
      read_control(ring, revision);
    if (!__atomic_load_n(&active_, __ATOMIC_RELAXED)) return;
    const std::uint32_t before = __atomic_load_n(&last_kernel_, __ATOMIC_RELAXED);
    __atomic_store_n(&last_kernel_, launch.kernel, __ATOMIC_RELAXED);
    if (__atomic_load_n(&pending_, __ATOMIC_RELAXED) != 0 &&
        now_ns >= __atomic_load_n(&next_poll_ns_, __ATOMIC_RELAXED))
      poll(ring, launch, now_ns);
    const std::uint64_t step = __atomic_load_n(&step_, __ATOMIC_ACQUIRE);
    if (step != 0 && __atomic_load_n(&step_thread_, __ATOMIC_RELAXED) == ::pthread_self()) {
      __atomic_store_n(&step_, 0, __ATOMIC_RELAXED);
      place(ring, launch, {(step >> 1) - 1, (step & 1) != 0}, now_ns);
    }
    const std::uint32_t previous = __atomic_load_n(&wanted_previous_, __ATOMIC_RELAXED);
    if (launch.kernel == __atomic_load_n(&wanted_kernel_, __ATOMIC_RELAXED) &&
        (previous == kNoName || previous == before) &&
        now_ns >= __atomic_load_n(&next_event_ns_, __ATOMIC_RELAXED))
      place(ring, launch, {number, false}, now_ns);
  }

  // The calling thread begins a step.
  void on_step(const Mark& step, std::uint64_t now_ns) {
    if (!__atomic_load_n(&steps_wanted_, __ATOMIC_RELAXED) ||
        !__atomic_load_n(&watching_, __ATOMIC_RELAXED) ||
        now_ns < __atomic_load_n(&next_event_ns_, __ATOMIC_RELAXED))
      return;
    __atomic_store_n(&step_thread_, ::pthread_self(), __ATOMIC_RELAXED);
    __atomic_store_n(&step_, ((step.number + 1) << 1) | (step.tick ? 1 : 0), __ATOMIC_RELEASE);
  }
  // Launches are not seen from now on, or will be: a step whose first launch is missed gets none.
  void set_watching(bool watching) {
    __atomic_store_n(&step_, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&watching_, watching, __ATOMIC_RELAXED);
  }

 private:
  static constexpr unsigned kPools = 8;
  static constexpr unsigned kEvents = 64;  // 3.2 s of launching ahead, at 50 ms

  struct Pool {
    std::uint32_t context_uid;
    std::uint32_t device;
    std::uint32_t axis;
    bool broken;
    // Events oldest..next-1 are in use, as a circle; the oldest has happened if `timed`.
    std::uint64_t oldest, next;
    bool timed;
    double seconds;  // of the oldest, on this axis
    cuda::Handle events[kEvents];
    Mark marks[kEvents];
    std::uint64_t placed_ns[kEvents];
  };

  void read_control(RingWriter& ring, std::uint64_t revision);
  void place(RingWriter& ring, const LaunchPlace& launch, const Mark& mark, std::uint64_t now_ns);
  void poll(RingWriter& ring, const LaunchPlace& launch, std::uint64_t now_ns);
  bool record_event(Pool& pool, const LaunchPlace& launch, const Mark& mark, std::uint64_t now_ns);
  void collect(RingWriter& ring, Pool& pool);
  Pool* pool_of(std::uint32_t context_uid);
  Pool* make_pool(std::uint32_t context_uid);

  bool try_lock() { return __atomic_exchange_n(&locked_, true, __ATOMIC_ACQUIRE) == false; }
  void unlock() { __atomic_store_n(&locked_, false, __ATOMIC_RELEASE); }

  // All zero until start(), so that it takes no room in the file.
  const Driver* driver_ = nullptr;
  // Read at every launch.
  std::uint64_t seen_revision_ = 0;
  std::uint64_t next_event_ns_ = 0;
  std::uint64_t next_poll_ns_ = 0;
  std::uint32_t wanted_kernel_ = 0;
  std::uint32_t wanted_previous_ = 0;
  std::uint32_t last_kernel_ = 0;
  std::uint32_t pending_ = 0;  // events that have not been read, over all pools
  std::uint64_t step_ = 0;     // whose first launch is to come: (number + 1) << 1, and 1 for a tick
  pthread_t step_thread_ = 0;
  bool steps_wanted_ = false;
  bool watching_ = false;
  bool active_ = false;
  // Under the lock.
  bool locked_ = false;
  std::uint64_t spacing_ns_ = 0;
  std::uint32_t axes_ = 0;
  std::uint32_t pool_count_ = 0;
  Pool pools_[kPools] = {};
};

}  // namespace hypermile
