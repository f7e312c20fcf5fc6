// SPDX-License-Identifier: Apache-2.0
//
// The half of the detector that handles each launch: O(1), without allocation.
#include <algorithm>
#include <utility>

#include "progress/confirmation.h"
#include "progress/detector_core.h"

namespace hypermile {
namespace {

constexpr Seconds kIdle(5);
constexpr double kIdlePeriods = 20;
// A host that launches a whole optimizer step and then waits for the GPU is not idle. A lower clock
// may make its waits a few times as long.
constexpr double kIdleWaits = 4;
constexpr double kHoldInterludes = 1.5;
constexpr Seconds kHoldMore(0.5);
constexpr double kForgetWait = 0.995;  // of a wait's length, per iteration
constexpr Seconds kClockWentBack(1);
// Half of the axis, so that differences never overflow.
constexpr std::int64_t kFarthest = std::int64_t{1} << 61;

}  // namespace

// A small step back in time is disorder between threads; a large one means another clock, and what
// came before is discarded.
Instant LaunchDetector::Core::in_order(Instant time) {
  const auto ns = std::clamp(time.nanoseconds(), -kFarthest, kFarthest);
  time = Instant::from_nanoseconds(ns);
  if (ring_.end() == 0 || time >= now()) return time;
  if (now() - time < kClockWentBack) return now();
  if (held_) give_up_hold();
  if (state_ == DetectorState::kLocked) leave(/*may_hold=*/false);
  search_from(ring_.end());
  return time;
}

void LaunchDetector::Core::search_from(std::uint64_t launch) {
  state_ = DetectorState::kSearch;
  search_start_ = launch;
  due_ = kFirstAnalysis;
  analysed_ = 0;
  agreeing_ = 0;
  lock_pending_ = false;
  match_pending_.reset();
  library_.search_from(launch);
}

void LaunchDetector::Core::add(const Launch& launch) {
  const Instant time = in_order(launch.time);
  const std::uint64_t at = ring_.end();
  const KernelNumber previous = at > 0 ? ring_.kernel(at - 1) : KernelNumbers::kOther;
  const KernelNumber kernel = numbers_.number(launch.kernel);
  if (at > 0) note_wait(time - now());
  ring_.push(time, kernel);
  idle_told_ = false;
  if (held_ && time > held_->deadline) give_up_hold();
  switch (state_) {
    case DetectorState::kSearch:
      search_library();
      break;
    case DetectorState::kTentative:
      search_library();
      follow_tentative(previous, kernel);
      break;
    case DetectorState::kLocked:
      follow_locked(at, previous, kernel);
      break;
  }
}

// Keeps the longest two waits of the host. The second tells how long it usually waits: one that
// came once may be a checkpoint.
void LaunchDetector::Core::note_wait(Seconds wait) {
  if (wait <= waits_of_host_[1]) return;
  waits_of_host_[1] = std::min(wait, waits_of_host_[0]);
  waits_of_host_[0] = std::max(wait, waits_of_host_[0]);
}

void LaunchDetector::Core::missed(Instant watched_since) {
  watched_since_ = watched_since;
  last_boundary_.reset();
  left_.reset();
  training_.reset();
  doubt_.reset();
  if (held_) give_up_hold();
  if (state_ != DetectorState::kLocked) return search_from(ring_.end());
  tracker_.resume(ring_.end());
  outer_.resume();
  // An analysis needs consecutive launches, and as many of them as were due before.
  search_start_ = ring_.end();
  analysed_ = 0;
}

void LaunchDetector::Core::search_library() {
  if (match_pending_ || library_.phases().empty()) return;
  match_pending_ = library_.search(ring_);
  if (!match_pending_ || !is_stage(match_pending_->number)) return;
  if (rounds_) rounds_->seen = ring_.end();
  match_pending_.reset();
}

void LaunchDetector::Core::follow_tentative(KernelNumber previous, KernelNumber kernel) {
  switch (tracker_.add(ring_.end() - 1, previous, kernel)) {
    case Tracker::Outcome::kNothing:
      break;
    case Tracker::Outcome::kBoundary:
      weigh_evidence();
      break;
    case Tracker::Outcome::kBroken:
      state_ = DetectorState::kSearch;
      agreeing_ = 0;
      lock_pending_ = false;
      break;
  }
}

void LaunchDetector::Core::follow_locked(std::uint64_t launch, KernelNumber previous,
                                         KernelNumber kernel) {
  const Tracker::Outcome outcome = tracker_.add(launch, previous, kernel);
  if (outcome == Tracker::Outcome::kNothing) return;
  if (outcome == Tracker::Outcome::kBoundary) return tell_boundary(launch);
  leave(/*may_hold=*/true);
}

void LaunchDetector::Core::weigh_evidence() {
  const std::uint64_t first = std::max(tracker_.first_boundary(), ring_.begin());
  const Evidence evidence{.quality = reference_.quality,
                          .segments = tracker_.segments(),
                          .lasting = now() - ring_.time(first),
                          .agreeing = agreeing_,
                          .explained = ring_.end() - tracker_.first_boundary(),
                          .searched = searched(),
                          .searching = now() - ring_.time(std::max(search_start_, ring_.begin())),
                          .gaps = tracker_.gaps(),
                          .gap_cv = tracker_.gap_cv(),
                          .launches = tracker_.mean_gap(),
                          .waits = waits_,
                          .distinct = tracker_.distinct(),
                          .elastic = reference_.elastic,
                          .interrupted = reference_.interrupted};
  const Verdict verdict = judge(evidence);
  lock_pending_ = verdict == Verdict::kBelieved;
  // Another analysis is worth its cost once a tenth more launches of the pattern have come.
  if (verdict == Verdict::kAnalyse) {
    const std::uint64_t more = std::min(analysed_, evidence.explained) / 10 + 1;
    due_ = std::min(due_, std::max(analysed_ + more, searched()));
  }
}

void LaunchDetector::Core::tell_boundary(std::uint64_t launch) {
  // What does not look like an iteration counts once the pattern goes on behind it. Where it does
  // not, it was the first part of something else.
  const unsigned ended = tracker_.iterations() + static_cast<unsigned>(std::exchange(carried_, 0));
  const bool doubtful = tracker_.doubtful() && !reference_.interrupted;
  const double counted = doubtful ? 0 : ended + std::exchange(doubted_, 0);
  if (doubtful) doubted_ += ended;
  if (doubtful && !doubt_) doubt_ = Doubt{.begin = tracker_.first_bad(), .end = std::nullopt};
  if (!doubtful && doubt_) doubt_->end = launch;
  Boundary boundary{.pattern = {phase_, 0},
                    .time = ring_.time(launch),
                    .gpu_time = std::nullopt,
                    .launch = launch,
                    .iterations = counted,
                    .confidence = reference_.quality,
                    .unseen = std::nullopt,
                    .behind_interlude = std::exchange(behind_interlude_, false)};
  sink_->boundary(boundary);
  for (Seconds& wait : waits_of_host_) wait = kForgetWait * wait;
  if (!doubtful) last_boundary_ = LastBoundary{phase_, launch, boundary.time};
  if (ended == 0) return;
  if (outer_.ended(ended, tracker_.events())) {
    sink_->levels_changed(make_pattern(phase_, reference_), boundary.time);
  }
  for (const OuterLevels::Level& level : outer_.levels()) {
    ++boundary.pattern.level;
    if (!level.ended) continue;
    boundary.iterations = level.iterations;
    sink_->boundary(boundary);
  }
}

// The pattern has ended, perhaps for an evaluation only. Where the job has returned from one
// before, it is given half as long again, and a little more, to do so again.
void LaunchDetector::Core::leave(bool may_hold) {
  const std::uint64_t since = std::max(tracker_.first_bad(), ring_.begin());
  const Pattern left = make_pattern(phase_, reference_);
  library_.update(phase_, tracker_.learnt(reference_));
  const Seconds interlude = library_.find(phase_) ? library_.find(phase_)->interlude : Seconds(0);
  const Instant ended = ring_.time(since);
  if (rounds_) rounds_->seen = ring_.end();
  left_ = training_ ? std::exchange(training_, std::nullopt) : last_boundary_;
  search_from(since);
  if (may_hold && interlude > Seconds(0)) {
    held_ = Hold{left, ended, ended + kHoldInterludes * interlude + kHoldMore};
    return;
  }
  sink_->broken(left, ended, now());
}

void LaunchDetector::Core::give_up_hold() {
  const Hold hold = *std::exchange(held_, std::nullopt);
  sink_->broken(hold.left, hold.since, now());
}

void LaunchDetector::Core::check_idle(Instant now_told, Instant arrived) {
  if (ring_.end() == 0 || idle_told_) return;
  double longest = kIdle.value();
  const std::uint64_t first = std::max(search_start_, ring_.begin());
  if (state_ == DetectorState::kLocked && first < ring_.end()) {
    const double launches = static_cast<double>(ring_.end() - first);
    const double period = (now() - ring_.time(first)).value() / launches * tracker_.mean_gap();
    longest = std::max({longest, kIdlePeriods * period, kIdleWaits * waits_of_host_[1].value()});
  }
  const Instant since = std::max({now(), watched_since_, arrived});
  if (now_told - since < Seconds(longest)) return;
  idle_told_ = true;
  sink_->idle(since);
}

}  // namespace hypermile
