// SPDX-License-Identifier: Apache-2.0
#include "observe/boundary_queue.h"

#include <algorithm>
#include <utility>

namespace hypermile {
namespace {

// GPU times that come less often than this do not come.
constexpr Seconds kStillComing = Seconds(10);

}  // namespace

BoundaryQueue::BoundaryQueue(const ProgressDelays& delays) : delays_(delays), numbers_(kNumbers) {}

void BoundaryQueue::add_launch(std::uint64_t number) {
  numbers_[launches_++ % kNumbers] = number;
}

void BoundaryQueue::add(const Boundary& boundary) {
  Waiting waiting{boundary, std::nullopt, std::nullopt, std::exchange(fresh_, false)};
  const bool remembered = boundary.launch < launches_ && launches_ - boundary.launch <= kNumbers;
  if (remembered) waiting.record = numbers_[boundary.launch % kNumbers];
  waiting_.push_back(waiting);
}

void BoundaryQueue::forget_stretch() {
  while (!waiting_.empty()) {
    const bool first = waiting_.back().fresh;
    waiting_.pop_back();
    if (first) break;
  }
}

void BoundaryQueue::add(const GpuTime& time, Instant now) {
  timed_at_ = now;
  newest_timed_ = std::max(newest_timed_.value_or(0), time.launch);
  // Boundaries of several levels may stand at one launch, and back-filled ones come late: few wait,
  // so all are looked at, newest first.
  for (auto at = waiting_.rbegin(); at != waiting_.rend(); ++at) {
    if (at->record != time.launch) continue;
    at->boundary.gpu_time = time.time;
    at->axis = time.axis;
  }
}

std::vector<BoundaryQueue::Released> BoundaryQueue::release(Instant now, bool everything) {
  const bool timed = timed_at_ && now - *timed_at_ < kStillComing;
  std::vector<Released> ready;
  while (!waiting_.empty()) {
    Waiting& next = waiting_.front();
    const Seconds waited = now - next.boundary.time;
    const bool expected = timed && next.record && *next.record > newest_timed_.value_or(0);
    const bool ripe = waited >= delays_.least && (!expected || waited >= delays_.most);
    if (!ripe && !everything) break;
    if (next.fresh) axis_.reset();
    const bool new_axis = next.axis && next.axis != axis_;
    if (next.axis) axis_ = next.axis;
    ready.push_back({next.boundary, next.fresh || new_axis});
    waiting_.pop_front();
  }
  return ready;
}

}  // namespace hypermile
