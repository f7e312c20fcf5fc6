// SPDX-License-Identifier: Apache-2.0
#include "progress/follow/boundary_queue.h"

#include <algorithm>
#include <utility>

namespace hypermile {
namespace {

// Without a GPU time for this long, none is expected any more.
constexpr Seconds kStillComing = Seconds(10);

}  // namespace

BoundaryQueue::BoundaryQueue(const ProgressDelays& delays) : delays_(delays), numbers_(kNumbers) {}

void BoundaryQueue::add_launch(std::uint64_t number) {
  numbers_[launches_++ % kNumbers] = number;
}

void BoundaryQueue::add(const Boundary& boundary) {
  Waiting waiting{boundary, std::nullopt, std::nullopt, std::exchange(fresh_, false)};
  const bool remembered = boundary.launch < launches_ && launches_ - boundary.launch <= kNumbers;
  if (remembered) waiting.record = Record{numbers_[boundary.launch % kNumbers], false};
  waiting_.push_back(waiting);
}

void BoundaryQueue::add_step(const Boundary& boundary, std::uint64_t number, bool tick) {
  waiting_.push_back({boundary, Record{number, tick}, std::nullopt, std::exchange(fresh_, false)});
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
  const Record record{time.launch, time.tick};
  if (!newest_timed_ || newest_timed_->tick != record.tick ||
      newest_timed_->number < record.number) {
    newest_timed_ = record;
  }
  // Several levels may have a boundary at one launch, and back-filled boundaries come late. Few
  // boundaries wait, so all are checked, newest first.
  for (auto at = waiting_.rbegin(); at != waiting_.rend(); ++at) {
    if (at->record != record) continue;
    at->boundary.gpu_time = time.time;
    at->axis = time.axis;
  }
}

bool BoundaryQueue::may_still_be_timed(const Waiting& waiting) const {
  return waiting.record && newest_timed_ && waiting.record->tick == newest_timed_->tick &&
         waiting.record->number > newest_timed_->number;
}

std::vector<BoundaryQueue::Released> BoundaryQueue::release(Instant now, bool everything) {
  const bool timed = timed_at_ && now - *timed_at_ < kStillComing;
  std::vector<Released> ready;
  while (!waiting_.empty()) {
    Waiting& next = waiting_.front();
    const Seconds waited = now - next.boundary.time;
    const bool expected = timed && may_still_be_timed(next);
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
