// SPDX-License-Identifier: Apache-2.0
//
// How the detector locks a pattern that is believed, and which patterns it does not lock: an
// evaluation of the training that is expected back, and a stage of a longer round.
#include <algorithm>
#include <map>
#include <utility>

#include "progress/detector_core.h"
#include "progress/forward_pass.h"
#include "progress/hidden_iterations.h"
#include "progress/other_stage.h"

namespace hypermile {
namespace {

constexpr double kFewLaunches = 8;  // launches in an iteration
constexpr Seconds kLeastLasting(0.3);

}  // namespace

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
  if (!relevelled && is_stage(phase_)) {
    state_ = DetectorState::kSearch;
    agreeing_ = 0;
    return;
  }
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

// Iterations are longer than a stage that is known to be a part of them, until that has not come
// for as long as the ring remembers.
double LaunchDetector::Core::least_launches() {
  const bool searching = state_ != DetectorState::kLocked;
  if (searching && rounds_ && ring_.end() - rounds_->seen > LaunchRing::kSize) rounds_.reset();
  return rounds_ ? rounds_->least : 0;
}

// The pattern is back after the launches [from, to). If those were another stage, and not for the
// first time, rounds are looked for instead.
bool LaunchDetector::Core::turns_out_stage(std::uint64_t from, std::uint64_t to) {
  const auto other = other_stage(ring_, from, to, reference_);
  if (!other) return false;
  library_.came_back_from_stage(phase_, from, *other);
  if (!is_stage(phase_)) return false;
  const PhaseLibrary::Phase& phase = *library_.find(phase_);
  const double least =
      std::max(static_cast<double>(phase.shortest_other), kLonger * phase.reference.length());
  rounds_ = Rounds{.least = least, .seen = ring_.end()};
  if (held_) give_up_hold();
  if (state_ == DetectorState::kLocked) {
    sink_->broken(make_pattern(phase_, reference_), ring_.time(from), now());
  }
  left_.reset();
  search_from(std::max(phase.first_other, ring_.begin()));
  return true;
}

bool LaunchDetector::Core::is_stage(std::uint32_t phase) const {
  const PhaseLibrary::Phase* known = library_.find(phase);
  return known != nullptr && known->is_stage();
}

// Starts the tracker again, so that it reports the boundaries since `from`.
void LaunchDetector::Core::begin_lock(std::uint64_t from, const Lock& lock) {
  // Where the training is expected back, its evaluation is no phase of its own.
  if (held_ && held_->left.phase != phase_ && evaluates(phase_, held_->left.phase)) {
    state_ = DetectorState::kSearch;
    agreeing_ = 0;
    return;
  }
  const bool returns = left_ && left_->phase == phase_;
  if (returns && !left_->for_evaluation && turns_out_stage(left_->launch, from)) return;
  state_ = DetectorState::kLocked;
  better_ = 0;
  const Instant begin = ring_.time(std::max(from, ring_.begin()));
  if (returns) {
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
  doubt_.reset();
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
