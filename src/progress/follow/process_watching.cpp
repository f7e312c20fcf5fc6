// SPDX-License-Identifier: Apache-2.0
//
// The part of ProcessProgress that decides when launches need not be watched, and accounts for what
// was not seen.
#include <cmath>
#include <utility>

#include "progress/follow/process_progress.h"

namespace hypermile {
namespace {

// Hosts run ahead by tenths of a second, so a shorter stretch gives no reliable period.
constexpr Seconds kLongEnough = Seconds(1.5);

}  // namespace

void ProcessProgress::take_watch(const RingNotice& notice) {
  if (notice.kind != RecordKind::kWatch) return;
  if (notice.value == 0 && !dark_since_) {
    dark_since_ = notice.time;
  } else if (notice.value != 0 && dark_since_) {
    watched_again(notice.time, notice.number);
  }
}

void ProcessProgress::watched_again(Instant time, std::uint64_t number) {
  // If no boundary came between two dark stretches, they count as one.
  if (!unseen_) unseen_ = Unseen{*dark_since_, stretch_.last_boundary()};
  if (const auto period = stretch_.period(kLongEnough)) period_ = period;
  dark_since_.reset();
  asked_until_.reset();
  stretch_ = WatchedStretch(number);
  duty_.watching_since(time);
  if (detector_) detector_->missed(time);
  work_rate_->restart();
  meter_.restart();
  queue_.begin_stretch();
}

// Called at the first boundary after a dark stretch, if the pattern is the same as before. Returns
// the estimated number of iterations in between.
double ProcessProgress::bridge(const Boundary& boundary) {
  const Unseen unseen = *std::exchange(unseen_, std::nullopt);
  if (!unseen.last || !period_) return 0;
  const double iterations = std::round((boundary.time - *unseen.last) / *period_);
  phase(boundary.pattern.phase).estimated += iterations;
  return iterations;
}

void ProcessProgress::decide_watching(Instant now) {
  RingReader* ring = launch_ring();
  if (ring == nullptr || stretch_.launches_per_second() <= 0) return;
  // A stretch that was asked for now would begin with the job's next launches.
  const bool rests = idle_ && !dark_since_;
  if (rests) duty_.resting(now);
  if (attention_.closely || rests || dark_since_ || asked_until_) {
    const bool unwanted = (attention_.closely || rests) && asked_until_;
    // A request stays unanswered if the library cannot do it or the job launches nothing.
    const bool unheard = !dark_since_ && asked_until_ && now > *asked_until_;
    if (!unwanted && !unheard) return;
    asked_until_.reset();
    if (unwanted) (void)ring->want_dark(std::nullopt);
    return;
  }
  WatchDuty::View view;
  view.ticks = ticking();
  const bool locked = detector_ && detector_->state() == DetectorState::kLocked;
  view.certain = ticking() || ((locked || working_) && !idle_);
  view.known_phase = known_phase_;
  view.window = attention_.window;
  view.measured = stretch_.measured(attention_.window);
  view.iterations = stretch_.iterations();
  view.launches_per_second = stretch_.launches_per_second();
  asked_until_ = duty_.dark_until(now, view);
  // If the request fails, everything is watched, so a failure needs no other action.
  if (asked_until_) (void)ring->want_dark(asked_until_);
}

}  // namespace hypermile
