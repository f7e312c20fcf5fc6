// SPDX-License-Identifier: Apache-2.0
//
// The expensive half of the detector, which runs between launches: it looks back for a pattern and
// locks.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "progress/detector_core.h"
#include "progress/forward_pass.h"
#include "progress/hidden_iterations.h"

namespace hypermile {
namespace {

constexpr double kUnchangedGap = 0.05;
constexpr double kUnchangedElasticGap = 0.3;
constexpr double kBetter = 0.1;  // quality by which another level must be better
constexpr double kBetterLengths = 8;
constexpr double kFewLaunches = 8;  // launches in an iteration
constexpr Seconds kLeastLasting(0.3);
// A job of few launches after a start-up of many would wait long for the next analysis, which is
// due after half as many launches again. Then the last half second is looked at on its own, and the
// last launches, which may have come in bursts.
constexpr Seconds kRecent(0.5);
constexpr Seconds kLookAgain(0.2);
constexpr std::uint64_t kLast = 64;  // launches
constexpr double kLonger = 1.3;      // launches in an iteration, of those of another

}  // namespace

void LaunchDetector::Core::analyse_if_due() {
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
    const auto finding = analysis_.run(ring_, ring_.end() - length, ring_.end());
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
  auto finding = analysis_.run(ring_, end - length, end);
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

// While a model is built, one kernel fills its weights and then the job does something else for
// seconds. So a pattern of few launches must have lasted even without its longest pause.
bool LaunchDetector::Core::one_long_pause() const {
  if (tracker_.mean_gap() >= kFewLaunches) return false;
  const std::uint64_t first = std::max(tracker_.first_boundary(), ring_.begin());
  Seconds longest;
  for (std::uint64_t i = first + 1; i < ring_.end(); ++i) {
    longest = std::max(longest, ring_.time(i) - ring_.time(i - 1));
  }
  return now() - ring_.time(first) - longest < kLeastLasting;
}

void LaunchDetector::Core::lock(bool relevelled) {
  lock_pending_ = false;
  if (!relevelled && one_long_pause()) {
    agreeing_ = 0;
    return;
  }
  const PhaseLibrary::Recognised phase = library_.recognise(reference_);
  phase_ = phase.number;
  begin_lock(
      tracker_.first_boundary(),
      {.time = now(), .launch = ring_.end() - 1, .known = phase.known, .relevelled = relevelled});
}

void LaunchDetector::Core::lock_known() {
  const PhaseLibrary::Match match = *match_pending_;
  match_pending_.reset();
  const PhaseLibrary::Phase* phase = library_.find(match.number);
  if (phase == nullptr) return;
  reference_ = phase->reference;
  if (!replay_tentative(match.first_boundary)) {
    state_ = DetectorState::kSearch;
    return;
  }
  phase_ = match.number;
  gap_ = tracker_.mean_gap();
  begin_lock(tracker_.first_boundary(),
             {.time = now(), .launch = ring_.end() - 1, .known = true, .relevelled = false});
}

// Iterations of the pattern between its last boundary and another; nullopt if that is not known.
std::optional<double> LaunchDetector::Core::hidden_since(const std::optional<std::uint64_t>& last,
                                                         std::uint64_t until) const {
  if (!last || *last < ring_.begin()) return std::nullopt;
  std::map<KernelNumber, HiddenKernel> kernels;
  for (const KernelCount& each : reference_.counts) kernels[each.kernel].per_iteration = each.count;
  for (std::uint64_t i = *last; i < until; ++i) {
    const auto found = kernels.find(ring_.kernel(i));
    if (found != kernels.end()) found->second.launched += 1;
  }
  std::vector<HiddenKernel> counted;
  for (const auto& [kernel, each] : kernels) counted.push_back(each);
  return hidden_iterations(std::move(counted));
}

bool LaunchDetector::Core::evaluates(std::uint32_t phase, std::uint32_t training) const {
  return is_forward_pass(kernel_mix(phase), kernel_mix(training));
}

// Starts the tracker again, so that it reports the boundaries since `from`.
void LaunchDetector::Core::begin_lock(std::uint64_t from, const Lock& lock) {
  // Where the training is expected back, its evaluation is no phase of its own.
  if (held_ && held_->left.phase != phase_ && evaluates(phase_, held_->left.phase)) {
    state_ = DetectorState::kSearch;
    agreeing_ = 0;
    return;
  }
  state_ = DetectorState::kLocked;
  better_ = 0;
  const Instant begin = ring_.time(std::max(from, ring_.begin()));
  if (left_ && left_->phase == phase_) {
    library_.came_back(phase_, begin - left_->time, left_->for_evaluation);
  }
  // An interlude long enough to be a phase of its own is none.
  if (held_ && held_->left.phase != phase_) give_up_hold();
  // After an interlude that was expected, everything goes on as if it had not been.
  std::optional<double> hidden;
  if (held_) hidden = hidden_since(left_ ? std::optional(left_->launch) : std::nullopt, from);
  if (held_ && !hidden) give_up_hold();
  const bool goes_on = std::exchange(held_, std::nullopt).has_value();
  carried_ = goes_on ? *hidden : 0;
  behind_interlude_ = goes_on;
  doubted_ = 0;
  training_.reset();
  if (left_ && left_->phase != phase_ && evaluates(phase_, left_->phase)) {
    training_ = left_;
    training_->for_evaluation = true;
  }
  left_.reset();
  search_start_ = std::max(from, ring_.begin());
  analysed_ = searched();
  due_ = 2 * analysed_;
  if (goes_on) {
    outer_.resume();  // what comes once an epoch is no iteration
  } else {
    outer_.start();
    sink_->locked(make_pattern(phase_, reference_), lock);
  }
  tracker_.start(reference_);
  const std::uint64_t end = ring_.end();
  for (std::uint64_t i = search_start_; i < end && state_ == DetectorState::kLocked; ++i) {
    follow_locked(i, ring_.previous(i), ring_.kernel(i));
  }
}

}  // namespace hypermile
