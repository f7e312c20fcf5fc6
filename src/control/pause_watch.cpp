// SPDX-License-Identifier: Apache-2.0
#include "control/pause_watch.h"

#include <algorithm>
#include <utility>

namespace hypermile {
namespace {

// A pause that is so many times longer than the plan's is another one, such as a checkpoint. One
// that comes late is not: a pause may have been too short to be told from an iteration.
constexpr double kAsLong = 3;
// Where the plan has no pauses, those are usual that come after this share of a Window. The
// distance is counted in iterations, because a clock must not change it.
constexpr double kUsual = 1.0 / 3;
// A pause and the iteration that it interrupts take as long as two iterations at least.
constexpr double kLeastPause = 2;
// Iterations that take less than this many times what they do at the default are no pause.
constexpr double kSlowest = 1.5;
// The same against the iterations just before, which ran at the same Setting: the mean of a few
// scatters by less where batches differ in size by a fifth, as in the simulated graph networks.
constexpr double kScatters = 1.2;

}  // namespace

// How long the job paused before `at`, with the iteration that the pause interrupts; 0: it did not.
// A host that runs ahead waits for its GPU now and then: the GPU's own times tell that from a
// pause. Where only some iterations are timed, the host's times between them are even and hide a
// pause that the GPU's show.
Seconds PauseWatch::paused(const CountedBoundary& at, const StepPlan& plan) const {
  const Boundary& boundary = at.boundary;
  if (!last_ || boundary.unseen) return Seconds(0);
  // The times of a host are even between two that are known, which spreads a short pause.
  const Seconds least = boundary.launch == 0 ? plan.shortest_pause : kShortestPause;
  const Seconds host = boundary.time - last_->boundary.time;
  const double long_iterations = std::max(kLeastPause, plan.pause_iterations);
  const bool long_host = host > std::max(long_iterations * std::max(plan.typical, recent_), least);
  const Seconds by_host = long_host ? host : Seconds(0);
  // A host that waits for its GPU after every round: the round ends there, whatever the GPU did.
  if (plan.pause_every > 0 && !plan.real_pauses) return by_host;
  const auto timed = since_timed(at);
  if (!timed) return by_host;
  const Seconds pace = std::max(plan.typical, recent_timed_);
  const double usually_slower = recent_timed_ > Seconds(0) ? kScatters : kSlowest;
  const double slower = long_host ? 1 : usually_slower;
  const Seconds longest = std::max(plan.pause_iterations * pace, plan.shortest_pause);
  if (timed->took <= longest + slower * timed->iterations * pace) return Seconds(0);
  return timed->took - (timed->iterations - 1) * pace;
}

std::optional<PauseWatch::Stretch> PauseWatch::since_timed(const CountedBoundary& at) const {
  if (!at.boundary.gpu_time || !last_timed_) return std::nullopt;
  return Stretch{at.iteration - last_timed_->iteration,
                 *at.boundary.gpu_time - *last_timed_->boundary.gpu_time};
}

// How long an iteration took before `at`, on each axis.
void PauseWatch::keep_pace(const CountedBoundary& at) {
  const Boundary& boundary = at.boundary;
  const bool follows = last_ && !boundary.unseen && boundary.iterations > 0;
  recent_ = follows ? (boundary.time - last_->boundary.time) / boundary.iterations : Seconds(0);
  const auto timed = since_timed(at);
  if (!timed) return;
  const bool advanced = timed->iterations > 0 && timed->took > Seconds(0);
  recent_timed_ = advanced ? timed->took / timed->iterations : Seconds(0);
}

Pause PauseWatch::add(const CountedBoundary& at, const StepPlan& plan) {
  const Seconds pause = paused(at, plan);
  keep_pace(at);
  last_ = at;
  if (pause > Seconds(0)) last_timed_.reset();
  if (at.boundary.gpu_time) last_timed_ = at;
  if (!(pause > Seconds(0))) return Pause::kNone;
  const double apart = at.iteration - std::exchange(last_pause_, at.iteration);
  const bool usual = plan.pause_every > 0 ? pause <= kAsLong * plan.pause
                                          : apart < kUsual * plan.window_iterations;
  return usual ? Pause::kUsual : Pause::kOdd;
}

}  // namespace hypermile
