// SPDX-License-Identifier: Apache-2.0
//
// The conditions under which a policy is judged: the job's length, its noise, and the objective.
// Used by `evaluate`, the tests and the evidence programs.
#pragma once

#include <cstdint>

#include "policy/objective.h"

namespace hypermile {

struct Conditions {
  Objective objective;
  double iterations = 5000;       // length of the job
  bool tell_length = true;        // whether the policy knows that length
  double window_iterations = 30;  // length of the window to which the noise refers
  double settle_iterations = 5;   // run without measuring after a change of setting
  double time_noise = 0.01;       // relative standard deviation of a window's time
  double power_noise = 0.01;
  double drift = 0;            // relative amplitude of the job's own slow drift
  double drift_period = 2500;  // iterations
  // Whether the job goes back to the default where it comes near the bound (policy/bound_guard.h).
  bool guard = false;
  bool follow_pace = true;  // whether the ledger lets the job's pace wander
  bool steady = false;      // one setting is kept, where a policy could share the job between two
  std::uint64_t seed = 1;
};

}  // namespace hypermile
