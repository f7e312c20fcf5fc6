// SPDX-License-Identifier: Apache-2.0
#include "control/pause_watch.h"

#include <algorithm>
#include <utility>

namespace hypermile {
namespace {

// The distance between pauses is counted in iterations, because a clock must not change it.
constexpr double kAsPlanned = 1.6;  // of what the plan says
constexpr double kUsual = 1.0 / 3;  // of a Window, where it says nothing

}  // namespace

// A host that runs ahead waits for its GPU now and then: the GPU's own times tell that from a
// pause.
bool PauseWatch::paused(const CountedBoundary& at, const StepPlan& plan) const {
  const Boundary& boundary = at.boundary;
  if (!last_ || boundary.unseen) return false;
  const Seconds longest = std::max(kPauseIterations * plan.typical, kShortestPause);
  if (boundary.time - last_->boundary.time <= longest) return false;
  if (!boundary.gpu_time || !last_timed_) return true;
  const double passed = at.iteration - last_timed_->iteration;
  const Seconds took = *boundary.gpu_time - *last_timed_->boundary.gpu_time;
  return took > longest + passed * plan.typical;
}

Pause PauseWatch::add(const CountedBoundary& at, const StepPlan& plan) {
  const bool pause = paused(at, plan);
  last_ = at;
  if (at.boundary.gpu_time) last_timed_ = at;
  if (!pause) return Pause::kNone;
  const double apart = at.iteration - std::exchange(last_pause_, at.iteration);
  const bool usual = plan.pause_every > 0 ? apart <= kAsPlanned * plan.pause_every
                                          : apart < kUsual * plan.window_iterations;
  return usual ? Pause::kUsual : Pause::kOdd;
}

}  // namespace hypermile
