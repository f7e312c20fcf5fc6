// SPDX-License-Identifier: Apache-2.0
//
// Measures launches on the GPU's own clock. At the boundary that the controller named, once every
// 50 ms on average, a CUDA event from a pool is recorded on the launching stream just before the
// launch. A host that launches many iterations at once and then waits gets the events that it saved
// up while it waited.
// Later launches poll the event without waiting, and the time since the previous event becomes a
// record. If the program reports its own steps (NVTX, ticks), the event goes before the first
// launch that the reporting thread makes after a step. Any thread may call these functions from the
// launch callback; a thread that finds the lock taken skips its event.
//
// Each CUDA context has its own pool, made when a boundary is first met there. A pool is used only
// while its context launches, so never after the context was destroyed.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "inject/driver.h"
#include "inject/ring_writer.h"

namespace hypermile {

// The parts of a launch that matter for events.
struct LaunchPlace {
  std::uint32_t kernel;
  std::uint32_t context_uid;
  cuda::Handle stream;
};

// What an event measures.
struct Mark {
  std::uint64_t number;  // number of a launch or step record, or of a tick in the ring of ticks
  bool tick;
};

class GpuEvents {
 public:
  constexpr GpuEvents() = default;

  // Called once, before any launch.
  void start(const Driver& driver);

  // Called before the launch whose record has `number`. Costs a few loads if there is nothing to
  // do.
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

  // Called when the calling thread begins a step.
  void on_step(const Mark& step, std::uint64_t now_ns) {
    if (!__atomic_load_n(&steps_wanted_, __ATOMIC_RELAXED) ||
        !__atomic_load_n(&watching_, __ATOMIC_RELAXED) ||
        now_ns < __atomic_load_n(&next_event_ns_, __ATOMIC_RELAXED))
      return;
    __atomic_store_n(&step_thread_, ::pthread_self(), __ATOMIC_RELAXED);
    __atomic_store_n(&step_, ((step.number + 1) << 1) | (step.tick ? 1 : 0), __ATOMIC_RELEASE);
  }
  // Says whether launches are watched from now on. A step whose first launch goes unseen gets no
  // event.
  void set_watching(bool watching) {
    __atomic_store_n(&step_, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&watching_, watching, __ATOMIC_RELAXED);
  }

 private:
  static constexpr unsigned kPools = 8;
  static constexpr unsigned kEvents = 64;   // lets the host run 3.2 s ahead at one event per 50 ms
  static constexpr unsigned kSavedUp = 32;  // events that a waiting host saves up

  struct Pool {
    std::uint32_t context_uid;
    std::uint32_t device;
    std::uint32_t axis;
    bool broken;
    // Events oldest..next-1 are in use, as a circle. If `timed`, the oldest has happened.
    std::uint64_t oldest, next;
    bool timed;
    double seconds;  // time of the oldest event on this axis
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

  // All members are zero until start(), so that the object takes no room in the library file.
  const Driver* driver_ = nullptr;
  // These are read at every launch.
  std::uint64_t seen_revision_ = 0;
  std::uint64_t next_event_ns_ = 0;
  std::uint64_t next_poll_ns_ = 0;
  std::uint32_t wanted_kernel_ = 0;
  std::uint32_t wanted_previous_ = 0;
  std::uint32_t last_kernel_ = 0;
  std::uint32_t pending_ = 0;  // events recorded but not yet collected, over all pools
  // The step that waits for its first launch: (number + 1) << 1, plus 1 for a tick.
  std::uint64_t step_ = 0;
  pthread_t step_thread_ = 0;
  bool steps_wanted_ = false;
  bool watching_ = false;
  bool active_ = false;
  // These are used only under the lock.
  bool locked_ = false;
  std::uint64_t spacing_ns_ = 0;
  std::uint64_t spent_until_ns_ = 0;  // when all events so far would have been due at even spacing
  std::uint32_t axes_ = 0;
  std::uint32_t pool_count_ = 0;
  Pool pools_[kPools] = {};
};

}  // namespace hypermile
