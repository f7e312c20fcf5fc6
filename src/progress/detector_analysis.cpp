// SPDX-License-Identifier: Apache-2.0
//
// The expensive half of the detector, which runs between launches: it looks back for a pattern.
#include <algorithm>
#include <cmath>
#include <utility>

#include "progress/detector_core.h"

namespace hypermile {
namespace {

constexpr double kUnchangedGap = 0.05;
constexpr double kUnchangedElasticGap = 0.3;
constexpr double kBetter = 0.1;  // quality by which another level must be better
constexpr double kBetterLengths = 8;
// A job of few launches after a start-up of many would wait long for the next analysis, which is
// due after half as many launches again. Then the last half second is looked at on its own, and the
// last launches, which may have come in bursts.
constexpr Seconds kRecent(0.5);
constexpr Seconds kLookAgain(0.2);
constexpr std::uint64_t kLast = 64;  // launches

}  // namespace

void LaunchDetector::Core::analyse_if_due() {
  if (state_ == DetectorState::kLocked && doubt_ && doubt_->end) {
    const Doubt doubt = *std::exchange(doubt_, std::nullopt);
    turns_out_stage(doubt.begin, *doubt.end);
  }
  if (match_pending_ && state_ != DetectorState::kLocked) {
    lock_known();
  } else if (lock_pending_) {
    lock(false);
  } else if (searched() >= due_) {
    analyse();
  } else if (state_ == DetectorState::kSearch && searched() >= analysed_ + kFirstAnalysis &&
             now() - looked_ >= kLookAgain) {
    look_at_recent();
  }
}

// The launches of the last half second, as far as they belong to the search.
std::uint64_t LaunchDetector::Core::recent() const {
  const std::uint64_t oldest = std::max(search_start_, ring_.begin());
  std::uint64_t from = oldest;
  std::uint64_t to = ring_.end();
  while (from < to) {
    const std::uint64_t middle = from + (to - from) / 2;
    if (now() - ring_.time(middle) > kRecent) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return ring_.end() - from;
}

// Only where few launches are coming; otherwise the next analysis is near.
void LaunchDetector::Core::look_at_recent() {
  looked_ = now();
  for (const std::uint64_t length : {recent(), kLast, kFirstAnalysis}) {
    if (length < kFirstAnalysis || length > searched() || due_ - searched() < length) continue;
    const auto finding = analysis_.run(ring_, ring_.end() - length, ring_.end(), least_launches());
    if (!finding) continue;
    return consider(finding);
  }
}

// Follows what was found over the stretch in which it was. False if it breaks again and again, as
// the time steps of a longer iteration do.
bool LaunchDetector::Core::stands_up(const Finding& finding) {
  trial_.start(finding.reference);
  const std::uint64_t first = std::max(finding.first_boundary, ring_.begin());
  for (std::uint64_t i = first; i < ring_.end(); ++i) {
    if (trial_.add(i, ring_.previous(i), ring_.kernel(i)) == Tracker::Outcome::kBroken) {
      trial_.start(finding.reference);
    }
  }
  return trial_.segments() > 0 && trial_.first_boundary() - first <= (ring_.end() - first) / 2;
}

// Among the last `length` launches.
std::optional<Finding> LaunchDetector::Core::find(std::uint64_t length) {
  const std::uint64_t end = ring_.end();
  auto finding = analysis_.run(ring_, end - length, end, least_launches());
  if (!finding || stands_up(*finding)) return finding;
  auto longer = analysis_.run(ring_, end - length, end, kLonger * finding->gap);
  const bool whole = longer && longer->reference.elastic && stands_up(*longer);
  return whole ? longer : finding;
}

// The first that stands up, else the first.
std::optional<Finding> LaunchDetector::Core::look_back() {
  // Of a long search or lock, only the newest part is analysed.
  const std::uint64_t length = searched() > LaunchRing::kSize ? LaunchRing::kSize / 2 : searched();
  if (state_ == DetectorState::kLocked) return find(length);
  const std::uint64_t followed =
      state_ == DetectorState::kTentative ? ring_.end() - tracker_.first_boundary() : 0;
  std::optional<Finding> first;
  for (const std::uint64_t part : {length, followed, length / 2, length / 4, recent()}) {
    if (part > length || (part < length && (part < kFirstAnalysis || part > length / 2))) continue;
    auto finding = find(part);
    if (!finding) continue;
    if (stands_up(*finding)) return finding;
    if (!first) first = std::move(finding);
  }
  return first;
}

void LaunchDetector::Core::analyse() {
  const bool locked = state_ == DetectorState::kLocked;
  // The start of a search moves on, so that what repeats now is not weighed against hours that did
  // not.
  if (!locked && searched() > LaunchRing::kSize) {
    search_start_ = ring_.end() - LaunchRing::kSize / 2;
  }
  analysed_ = searched();
  looked_ = now();
  due_ = locked ? 2 * analysed_ : analysed_ + analysed_ / 2;
  auto finding = look_back();
  if (locked) {
    consider_in_lock(std::move(finding));
  } else {
    consider(finding);
  }
}

void LaunchDetector::Core::consider(const std::optional<Finding>& finding) {
  if (!finding) {
    agreeing_ = 0;
    lock_pending_ = false;
    return;
  }
  const bool tentative = state_ == DetectorState::kTentative;
  const bool elastic = reference_.elastic && finding->reference.elastic;
  const double unchanged = elastic ? kUnchangedElasticGap : kUnchangedGap;
  // How many evaluations a stretch holds changes the mean gap, but not the usual iteration.
  const double length = reference_.length();
  const bool as_long = std::abs(finding->reference.length() - length) <= kUnchangedGap * length;
  const bool same = tentative && (as_long || std::abs(finding->gap - gap_) <= unchanged * gap_);
  // What is followed gives way to nothing that cannot be.
  if (tentative && !same && !stands_up(*finding)) return weigh_evidence();
  agreeing_ = same ? agreeing_ + 1 : 0;
  const std::uint64_t from =
      same ? std::min(tracker_.first_boundary(), finding->first_boundary) : finding->first_boundary;
  gap_ = finding->gap;
  waits_ = finding->waits;
  reference_ = finding->reference;
  lock_pending_ = false;
  state_ = DetectorState::kSearch;
  if (!replay_tentative(from)) {
    agreeing_ = 0;
    return;
  }
  state_ = DetectorState::kTentative;
  weigh_evidence();
  if (lock_pending_) lock(false);
}

// Follows reference_ from launch `from` to now, and starts over if it breaks. False if that leaves
// no whole iteration.
bool LaunchDetector::Core::replay_tentative(std::uint64_t from) {
  tracker_.start(reference_);
  for (std::uint64_t i = std::max(from, ring_.begin()); i < ring_.end(); ++i) {
    if (tracker_.add(i, ring_.previous(i), ring_.kernel(i)) == Tracker::Outcome::kBroken) {
      tracker_.start(reference_);
    }
  }
  return tracker_.segments() > 0;
}

void LaunchDetector::Core::consider_in_lock(std::optional<Finding> finding) {
  gap_ = tracker_.mean_gap();
  const bool same = finding && std::abs(finding->gap - gap_) <= kUnchangedGap * gap_;
  if (same) reference_.quality = std::max(reference_.quality, finding->reference.quality);
  const bool better =
      finding && !same && finding->reference.quality > reference_.quality + kBetter &&
      static_cast<double>(searched()) > kBetterLengths * finding->gap && stands_up(*finding);
  better_ = better ? better_ + 1 : 0;
  if (better_ < 2) return;
  gap_ = finding->gap;
  reference_ = std::move(finding->reference);
  if (replay_tentative(finding->first_boundary)) {
    lock(true);
  } else {
    search_from(search_start_);
  }
}

}  // namespace hypermile
