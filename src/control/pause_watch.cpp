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
// Iterations that take less than this many times what they do at the default are no pause.
constexpr double kSlowest = 1.5;

}  // namespace

// How long the job paused before `at`, with the iteration that the pause interrupts; 0: it did not.
// A host that runs ahead waits for its GPU now and then: the GPU's own times tell that from a
// pause. Where only some iterations are timed, the host's times between them are even and hide a
// pause that the GPU's show.
Seconds PauseWatch::paused(const CountedBoundary& at, const StepPlan& plan) const {
  const Boundary& boundary = at.boundary;
  if (!last_ || boundary.unseen) return Seconds(0);
  const Seconds longest = std::max(kPauseIterations * plan.typical, kShortestPause);
  const Seconds host = boundary.time - last_->boundary.time;
  const Seconds by_host = host > longest ? host : Seconds(0);
  // A host that waits for its GPU after every round: the round ends there, whatever the GPU did.
  if (plan.pause_every > 0 && !plan.real_pauses) return by_host;
  if (!boundary.gpu_time || !last_timed_) return by_host;
  const double passed = at.iteration - last_timed_->iteration;
  const Seconds took = *boundary.gpu_time - *last_timed_->boundary.gpu_time;
  const double slower = host > longest ? 1 : kSlowest;
  if (took <= longest + slower * passed * plan.typical) return Seconds(0);
  return took - (passed - 1) * plan.typical;
}

Pause PauseWatch::add(const CountedBoundary& at, const StepPlan& plan) {
  const Seconds pause = paused(at, plan);
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
