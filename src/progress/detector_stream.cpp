// SPDX-License-Identifier: Apache-2.0
//
// The half of the detector that handles each launch: O(1), without allocation.
#include <algorithm>

#include "progress/confirmation.h"
#include "progress/detector_core.h"

namespace hypermile {
namespace {

constexpr Seconds kIdle(5);
constexpr double kIdlePeriods = 20;
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
  if (state_ == DetectorState::kLocked) leave();
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
  ring_.push(time, kernel);
  idle_told_ = false;
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

void LaunchDetector::Core::missed(Instant watched_since) {
  watched_since_ = watched_since;
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
  leave();
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
                          .distinct = tracker_.distinct()};
  const Verdict verdict = judge(evidence);
  lock_pending_ = verdict == Verdict::kBelieved;
  // Another analysis is worth its cost once a tenth more launches have come.
  if (verdict == Verdict::kAnalyse) {
    due_ = std::min(due_, std::max(analysed_ + analysed_ / 10 + 1, searched()));
  }
}

void LaunchDetector::Core::tell_boundary(std::uint64_t launch) {
  Boundary boundary{.pattern = {phase_, 0},
                    .time = ring_.time(launch),
                    .gpu_time = std::nullopt,
                    .launch = launch,
                    .iterations = static_cast<double>(tracker_.iterations()),
                    .confidence = reference_.quality};
  sink_->boundary(boundary);
  if (tracker_.iterations() == 0) return;
  if (outer_.ended(tracker_.iterations(), tracker_.events())) {
    sink_->levels_changed(make_pattern(phase_, reference_), boundary.time);
  }
  for (const OuterLevels::Level& level : outer_.levels()) {
    ++boundary.pattern.level;
    if (!level.ended) continue;
    boundary.iterations = level.iterations;
    sink_->boundary(boundary);
  }
}

void LaunchDetector::Core::leave() {
  const std::uint64_t since = std::max(tracker_.first_bad(), ring_.begin());
  const Pattern left = make_pattern(phase_, reference_);
  library_.update(phase_, tracker_.learnt(reference_));
  search_from(since);
  sink_->broken(left, ring_.time(since), now());
}

void LaunchDetector::Core::check_idle(Instant now_told) {
  if (ring_.end() == 0 || idle_told_) return;
  double longest = kIdle.value();
  const std::uint64_t first = std::max(search_start_, ring_.begin());
  if (state_ == DetectorState::kLocked && first < ring_.end()) {
    const double launches = static_cast<double>(ring_.end() - first);
    const double period = (now() - ring_.time(first)).value() / launches * tracker_.mean_gap();
    longest = std::max(longest, kIdlePeriods * period);
  }
  const Instant since = std::max(now(), watched_since_);
  if (now_told - since < Seconds(longest)) return;
  idle_told_ = true;
  sink_->idle(since);
}

}  // namespace hypermile
