// SPDX-License-Identifier: Apache-2.0
//
// The part of ProcessProgress that handles the detector's reports: patterns found and lost,
// iterations, and outer levels.
#include <algorithm>
#include <utility>

#include "progress/follow/optimizer_kernel.h"
#include "progress/follow/process_progress.h"

namespace hypermile {

void ProcessProgress::set_levels(PhaseProgress& into, const Pattern& pattern) {
  into.pattern = pattern;
  std::vector<PhaseProgress::Level> levels;
  for (const OuterLevel& outer : pattern.outer) {
    const auto same = std::ranges::find(into.levels, outer, &PhaseProgress::Level::outer);
    if (same != into.levels.end()) {
      levels.push_back(*same);
      continue;
    }
    PhaseProgress::Level level;
    level.outer = outer;
    RingReader* ring = launch_ring();
    level.optimizer =
        ring != nullptr && std::ranges::any_of(outer.kernels, [ring](std::uint32_t kernel) {
          return is_optimizer_kernel(ring->name(kernel).value_or(""));
        });
    levels.push_back(std::move(level));
  }
  into.levels = std::move(levels);
}

void ProcessProgress::locked(const Pattern& pattern, const Lock& lock) {
  if (passing(pattern.phase)) {
    if (!lasts_since_) lasts_since_ = lock.time;
    return;
  }
  if (source_ == ProgressSource::kNone) source_ = ProgressSource::kLaunches;
  if (lock.relevelled && phase_in_force_) {
    phase(*phase_in_force_).iterations -= counted_in_lock_;
    queue_.forget_stretch();
  }
  // A pattern that was found after all takes the place of the work.
  if (pattern.phase != kWorkPhase) working_ = false;
  if (locked_since_ && phase_in_force_ && lock.time > *locked_since_ && !lock.relevelled) {
    phase(*phase_in_force_).locked += lock.time - *locked_since_;
  }
  phase_in_force_ = pattern.phase;
  locked_since_.reset();
  counted_in_lock_ = 0;
  set_levels(phase(pattern.phase), pattern);
  known_phase_ = lock.known;
  unseen_.reset();
  period_.reset();
  stretch_.forget_iterations();
  queue_.begin_stretch();
  ask_for_events(pattern.anchor);
  tell(lock.time, ProgressState::kLocked, pattern, lock.known);
}

void ProcessProgress::boundary(const Boundary& boundary) {
  if (source_ != ProgressSource::kLaunches || passing(boundary.pattern.phase)) return;
  if (!locked_since_) locked_since_ = boundary.time;
  if (boundary.pattern.level != 0) {
    queue_.add(boundary);
    return;
  }
  Boundary told = boundary;
  if (unseen_) told.unseen = bridge(boundary);
  stretch_.add(told);
  const double passed = told.iterations + told.unseen.value_or(0);
  phase(told.pattern.phase).iterations += passed;
  counted_in_lock_ += passed;
  queue_.add(told);
}

void ProcessProgress::levels_changed(const Pattern& pattern, Instant time) {
  if (passing(pattern.phase)) return;
  set_levels(phase(pattern.phase), pattern);
  tell(time, ProgressState::kLocked, pattern);
}

void ProcessProgress::broken(const Pattern& pattern, Instant since, Instant time) {
  if (passing(pattern.phase)) {
    lasts_since_.reset();
    return;
  }
  // Nobody knows when the pattern ended during the dark stretch, so that time is not counted.
  if (unseen_) since = std::min(since, unseen_->since);
  unseen_.reset();
  if (locked_since_ && since > *locked_since_)
    phase(pattern.phase).locked += since - *locked_since_;
  locked_since_.reset();
  phase_in_force_.reset();
  ask_for_events(std::nullopt);
  tell(time, ProgressState::kSearching, pattern);
  // A start-up has patterns that never come back, and says nothing of the job.
  if (pattern.phase != kWorkPhase && known_phase_) note_break(time);
}

void ProcessProgress::idle(Instant since) {
  idle_ = true;
  tell(since, ProgressState::kIdle, std::nullopt);
}

}  // namespace hypermile
