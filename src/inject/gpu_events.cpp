// SPDX-License-Identifier: Apache-2.0
#include "inject/gpu_events.h"

#include <bit>

namespace hypermile {
namespace {

constexpr std::uint64_t kPollNs = 2'000'000;
// CUDA gives elapsed times as floats in milliseconds, which are too coarse over a longer gap; after
// such a gap a new axis begins.
constexpr std::uint64_t kLongestGapNs = 30'000'000'000;

}  // namespace

void GpuEvents::start(const Driver& driver) {
  driver_ = &driver;
  wanted_kernel_ = wanted_previous_ = last_kernel_ = kNoName;
  spacing_ns_ = kLeastSpacingNs;
  watching_ = true;
}

void GpuEvents::read_control(RingWriter& ring, std::uint64_t revision) {
  if ((revision & 1) != 0 || !driver_ || !driver_->can_time() || !try_lock()) return;
  const RingControl& control = ring.control();
  const std::uint32_t wanted = __atomic_load_n(&control.events_wanted, __ATOMIC_ACQUIRE);
  const std::uint32_t kernel = __atomic_load_n(&control.kernel, __ATOMIC_ACQUIRE);
  const std::uint32_t previous = __atomic_load_n(&control.previous, __ATOMIC_ACQUIRE);
  const std::uint64_t spacing = __atomic_load_n(&control.spacing_ns, __ATOMIC_ACQUIRE);
  if (__atomic_load_n(&control.revision, __ATOMIC_RELAXED) == revision) {
    spacing_ns_ = spacing < kLeastSpacingNs ? kLeastSpacingNs : spacing;
    const bool at_kernel = (wanted & kEventsAtKernel) != 0;
    __atomic_store_n(&wanted_kernel_, at_kernel ? kernel : kNoName, __ATOMIC_RELAXED);
    __atomic_store_n(&steps_wanted_, (wanted & kEventsAtSteps) != 0, __ATOMIC_RELAXED);
    __atomic_store_n(&wanted_previous_, previous, __ATOMIC_RELAXED);
    __atomic_store_n(&seen_revision_, revision, __ATOMIC_RELAXED);
    // Stays active until the events in flight have been collected.
    if (wanted != 0 || __atomic_load_n(&pending_, __ATOMIC_RELAXED) == 0)
      __atomic_store_n(&active_, wanted != 0, __ATOMIC_RELAXED);
  }
  unlock();
}

void GpuEvents::place(RingWriter& ring, const LaunchPlace& launch, const Mark& mark,
                      std::uint64_t now_ns) {
  if (!try_lock()) return;
  bool placed = false;
  if (now_ns >= __atomic_load_n(&next_event_ns_, __ATOMIC_RELAXED)) {
    const RelaxedCaptureMode relaxed(*driver_);
    if (driver_->surely_not_capturing(launch.stream)) {
      Pool* pool = pool_of(launch.context_uid);
      if (!pool) pool = make_pool(launch.context_uid);
      placed = pool && record_event(*pool, launch, mark, now_ns);
    }
    spent_until_ns_ = (spent_until_ns_ > now_ns ? spent_until_ns_ : now_ns) + spacing_ns_;
    const std::uint64_t saved = kSavedUp * spacing_ns_;
    __atomic_store_n(&next_event_ns_, spent_until_ns_ > saved ? spent_until_ns_ - saved : 0,
                     __ATOMIC_RELAXED);
    __atomic_fetch_add(placed ? &ring.header().events_placed : &ring.header().events_passed, 1,
                       __ATOMIC_RELAXED);
  }
  unlock();
}

bool GpuEvents::record_event(Pool& pool, const LaunchPlace& launch, const Mark& mark,
                             std::uint64_t now_ns) {
  if (pool.broken || pool.next - pool.oldest >= kEvents) return false;
  const auto index = static_cast<unsigned>(pool.next % kEvents);
  if (driver_->event_record(pool.events[index], launch.stream) != cuda::kDriverSuccess) {
    pool.broken = true;
    return false;
  }
  pool.marks[index] = mark;
  pool.placed_ns[index] = now_ns;
  ++pool.next;
  __atomic_fetch_add(&pending_, 1, __ATOMIC_RELAXED);
  return true;
}

void GpuEvents::poll(RingWriter& ring, const LaunchPlace& launch, std::uint64_t now_ns) {
  if (!try_lock()) return;
  __atomic_store_n(&next_poll_ns_, now_ns + kPollNs, __ATOMIC_RELAXED);
  if (Pool* pool = pool_of(launch.context_uid); pool && !pool->broken) {
    const RelaxedCaptureMode relaxed(*driver_);
    collect(ring, *pool);
  }
  unlock();
}

void GpuEvents::collect(RingWriter& ring, Pool& pool) {
  while (pool.next - pool.oldest > (pool.timed ? 1U : 0U)) {
    const std::uint64_t candidate = pool.oldest + (pool.timed ? 1 : 0);
    const auto to = static_cast<unsigned>(candidate % kEvents);
    const auto from = static_cast<unsigned>(pool.oldest % kEvents);
    const int answer = driver_->event_query(pool.events[to]);
    if (answer == cuda::kDriverNotReady) return;
    float ms = 0;
    if (answer != cuda::kDriverSuccess ||
        (pool.timed && driver_->event_elapsed_ms(&ms, pool.events[from], pool.events[to]) !=
                           cuda::kDriverSuccess)) {
      pool.broken = true;
      __atomic_fetch_sub(&pending_, static_cast<std::uint32_t>(pool.next - candidate),
                         __ATOMIC_RELAXED);
      return;
    }
    const bool same_axis =
        pool.timed && ms >= 0 && pool.placed_ns[to] - pool.placed_ns[from] < kLongestGapNs;
    if (!same_axis) pool.axis = axes_++;
    // Summed as a double, because a float of milliseconds since the start would soon be too coarse.
    pool.seconds = same_axis ? pool.seconds + static_cast<double>(ms) * 1e-3 : 0.0;
    pool.oldest = candidate;
    pool.timed = true;
    __atomic_fetch_sub(&pending_, 1, __ATOMIC_RELAXED);
    const RecordKind kind = pool.marks[to].tick ? RecordKind::kTickTime : RecordKind::kGpuTime;
    ring.put(pool.marks[to].number, pack_b(kind, pool.axis, pool.device),
             std::bit_cast<std::uint64_t>(pool.seconds));
  }
}

GpuEvents::Pool* GpuEvents::pool_of(std::uint32_t context_uid) {
  for (std::uint32_t i = 0; i < pool_count_; ++i)
    if (pools_[i].context_uid == context_uid) return &pools_[i];
  return nullptr;
}

GpuEvents::Pool* GpuEvents::make_pool(std::uint32_t context_uid) {
  if (pool_count_ == kPools) return nullptr;
  Pool& pool = pools_[pool_count_++];
  pool.context_uid = context_uid;
  int device = 0;
  pool.broken = driver_->get_device(&device) != cuda::kDriverSuccess;
  pool.device = static_cast<std::uint32_t>(device);
  for (cuda::Handle& event : pool.events)
    if (!pool.broken) pool.broken = driver_->event_create(&event, 0) != cuda::kDriverSuccess;
  return &pool;
}

}  // namespace hypermile
