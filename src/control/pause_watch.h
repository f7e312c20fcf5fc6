// SPDX-License-Identifier: Apache-2.0
//
// Tells pauses of the job between two iterations (an evaluation, a checkpoint) from iterations that
// took long, and those that come as a matter of course from those that do not. Sees every Boundary
// of a rank, whether it is being measured or not: a pause that nobody measured is one all the same.
#pragma once

#include <optional>

#include "control/step_plan.h"
#include "progress/boundary.h"

namespace hypermile {

// A Boundary and how many iterations of its phase there had been.
struct CountedBoundary {
  Boundary boundary;
  double iteration = 0;
  bool behind_pause = false;  // one that comes as a matter of course
};

enum class Pause {
  kNone,
  kUsual,  // comes several times a Window: how the job runs
  kOdd,    // must not be in a Window
};

class PauseWatch {
 public:
  // Whether the job paused before `at`; of one phase, in order.
  Pause add(const CountedBoundary& at, const StepPlan& plan);

 private:
  Seconds paused(const CountedBoundary& at, const StepPlan& plan) const;
  void keep_pace(const CountedBoundary& at);
  struct Stretch {
    double iterations = 0;
    Seconds took;
  };
  // By the GPU's times, from the last Boundary that had one; nullopt where `at` has none.
  std::optional<Stretch> since_timed(const CountedBoundary& at) const;

  std::optional<CountedBoundary> last_, last_timed_;  // the latter with a GPU time
  double last_pause_ = 0;                             // the iteration behind it
  // Time per iteration before the last Boundary: at a slow Setting every iteration is long, and
  // none is a pause.
  Seconds recent_ = Seconds(0);
  Seconds recent_timed_ = Seconds(0);  // by the GPU's times
};

}  // namespace hypermile
