// SPDX-License-Identifier: Apache-2.0
//
// How long a Window must be for this job, from a short watch at the default: long enough for the
// sensors to move often, for a mean over the scatter of single iterations, and no longer than the
// job can afford.
#pragma once

#include <optional>
#include <span>

#include "base/units.h"

namespace hypermile {

// How the time of an iteration follows its size, where the batches of a job have different shapes.
struct IterationSizes {
  double usual = 0;  // blocks that a mean iteration launches; 0: size tells nothing
  double share = 0;  // of a mean iteration's time that grows with its blocks

  // Mean iterations that so many are worth, of which so many blocks were launched.
  double weigh(double iterations, std::optional<double> blocks) const;
};

// A host may wait for its GPU for so long without pausing. The GPU's own times and exact ticks show
// shorter pauses, down to the spacing of GPU times.
inline constexpr Seconds kShortestPause = milliseconds(300);
inline constexpr Seconds kShortestTimedPause = milliseconds(50);

// A gap between two iterations is a pause when it is at least this many iterations long, however
// much single ones scatter, and no shorter than the plan's shortest pause.
inline constexpr double kPauseIterations = 4;

struct StepPlan {
  Seconds typical;               // median time of an iteration
  double window_iterations = 0;  // in one Window
  double settle_iterations = 0;  // that pass unmeasured after a change of Setting
  // The job pauses after so many, several times a Window: Windows run from pause to pause. 0: it
  // does not.
  double pause_every = 0;
  // They are the job's own, seen in GPU times or ticks, and no host that waits for its GPU.
  bool real_pauses = false;
  // The longest of them that was seen, with the iteration that it interrupts.
  Seconds pause = Seconds(0);
  // What is shorter is no pause.
  Seconds shortest_pause = kShortestPause;
  // Iterations that a pause lasts at least: fewer where all take equally long.
  double pause_iterations = kPauseIterations;
  IterationSizes sizes = {};
};

inline constexpr Seconds kSettle = Seconds(0.5);

// `scatter`: relative standard deviation of single iterations, as far as it averages out.
StepPlan plan_steps(Seconds typical, double scatter);
// From intervals between ticks, at least one.
StepPlan plan_steps(std::span<const double> intervals_s);

}  // namespace hypermile
