// SPDX-License-Identifier: Apache-2.0
#include "progress/follow/boundary_queue.h"

#include <algorithm>
#include <utility>

namespace hypermile {
namespace {

// Without a GPU time for this long, and for the longest wait, none is expected any more.
constexpr Seconds kStillComing = Seconds(10);
constexpr double kPatience = 2;       // times the lateness seen
constexpr double kForgetLate = 0.99;  // of the lateness, per GPU time
constexpr std::size_t kUntimed = 256;
constexpr double kDrift = 1e-4;  // between the clocks of host and GPU, at most

}  // namespace

BoundaryQueue::BoundaryQueue(const ProgressDelays& delays) : delays_(delays) {}

void BoundaryQueue::add_launch(std::uint64_t number, std::uint32_t blocks) {
  const SeenLaunch launch{number, blocks_};
  if (seen_.size() < kNumbers) {
    seen_.push_back(launch);
  } else {
    seen_[launches_ % kNumbers] = launch;
  }
  ++launches_;
  blocks_ += blocks;
}

// What was launched where nobody watched, or beside the iterations, is not known or not theirs.
void BoundaryQueue::count_blocks(Boundary& boundary, bool fresh) {
  const std::uint64_t before = seen_[boundary.launch % kNumbers].blocks_before;
  const bool joined = begun_ && begun_->pattern == boundary.pattern && !fresh;
  if (joined && !boundary.unseen && !boundary.behind_interlude && before > begun_->blocks_before) {
    boundary.blocks = static_cast<double>(before - begun_->blocks_before);
  }
  begun_ = Begun{boundary.pattern, before};
}

void BoundaryQueue::add(const Boundary& boundary) {
  Waiting waiting{boundary, std::nullopt, std::nullopt, std::exchange(fresh_, false)};
  const bool remembered = boundary.launch < launches_ && launches_ - boundary.launch <= kNumbers;
  if (remembered) {
    waiting.record = Record{seen_[boundary.launch % kNumbers].number, false};
    if (boundary.pattern.level == 0) count_blocks(waiting.boundary, waiting.fresh);
  }
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
    late_ = std::max(late_, now - at->boundary.time);
    align(at->boundary, time.axis);
  }
  note_late(record, now);
}

// Learns from times that came after their Boundary had gone.
void BoundaryQueue::note_late(const Record& record, Instant now) {
  late_ = kForgetLate * late_;
  for (const Untimed& each : untimed_) {
    if (each.record == record) late_ = std::max(late_, now - each.time);
  }
}

Seconds BoundaryQueue::longest_wait() const {
  return std::max(delays_.most, std::min(kPatience * late_, delays_.most_of_all));
}

bool BoundaryQueue::may_still_be_timed(const Waiting& waiting) const {
  return waiting.record && newest_timed_ && waiting.record->tick == newest_timed_->tick &&
         waiting.record->number > newest_timed_->number;
}

void BoundaryQueue::align(const Boundary& boundary, std::uint32_t axis) {
  const Seconds ahead = boundary.time.since_origin() - *boundary.gpu_time;
  if (!aligned_ || aligned_->axis != axis) {
    aligned_ = Alignment{axis, ahead, boundary.time};
    return;
  }
  const Seconds drifted = kDrift * (boundary.time - aligned_->at);
  *aligned_ = {axis, std::max(aligned_->ahead - drifted, ahead), boundary.time};
}

// When the GPU reached the Boundary that waits at this place; nullopt if GPU times do not tell.
std::optional<Instant> BoundaryQueue::on_gpu(std::size_t waiting) const {
  const auto mapped = [&](const Waiting& timed) -> std::optional<Instant> {
    if (!timed.axis || !aligned_ || aligned_->axis != *timed.axis) return std::nullopt;
    return Instant() + *timed.boundary.gpu_time + aligned_->ahead;
  };
  const Waiting& this_one = waiting_[waiting];
  if (this_one.axis) return mapped(this_one);
  if (!released_timed_ || this_one.fresh) return std::nullopt;
  double iterations = since_timed_;
  double here = 0;
  for (std::size_t i = waiting; i < waiting_.size(); ++i) {
    const Waiting& each = waiting_[i];
    if (i > waiting && each.fresh) return std::nullopt;
    // The GPU did something else meanwhile, so the host's times tell what lies before and behind.
    if (each.boundary.behind_interlude) {
      if (i == waiting) return std::nullopt;
      return this_one.boundary.time + behind_host_;
    }
    if (each.boundary.pattern.level == 0) iterations += each.boundary.iterations;
    if (i == waiting) here = iterations;
    if (!each.axis) continue;
    const auto next = mapped(each);
    if (!next || !(iterations > 0)) return std::nullopt;
    return *released_timed_ + (*next - *released_timed_) * (here / iterations);
  }
  return std::nullopt;
}

std::vector<BoundaryQueue::Released> BoundaryQueue::release(Instant now, bool everything) {
  const Seconds longest = longest_wait();
  const bool timed = timed_at_ && now - *timed_at_ < std::max(kStillComing, longest);
  std::vector<Released> ready;
  while (!waiting_.empty()) {
    Waiting& next = waiting_.front();
    const std::optional<Instant> reached = on_gpu(0);
    const Seconds waited = now - next.boundary.time;
    const bool expected = timed && !reached && may_still_be_timed(next);
    const bool ripe = now - reached.value_or(next.boundary.time) >= delays_.least &&
                      (!expected || waited >= longest);
    if (!ripe && !everything) break;
    if (next.fresh) axis_.reset();
    const bool new_axis = next.axis && next.axis != axis_;
    if (next.axis) axis_ = next.axis;
    if (next.record && !next.axis) untimed_.push_back({*next.record, next.boundary.time});
    if (untimed_.size() > kUntimed) untimed_.pop_front();
    const Instant launched = next.boundary.time;
    next.boundary.time = released_ = std::max(released_, reached.value_or(launched));
    if (next.fresh) released_timed_.reset();
    const bool placed = next.boundary.behind_interlude && released_timed_;
    if ((next.axis && reached) || placed) {
      released_timed_ = released_;
      behind_host_ = released_ - launched;
      since_timed_ = 0;
    } else if (next.boundary.pattern.level == 0) {
      since_timed_ += next.boundary.iterations;
    }
    ready.push_back({next.boundary, next.fresh || new_axis});
    waiting_.pop_front();
  }
  return ready;
}

}  // namespace hypermile
