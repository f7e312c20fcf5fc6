// SPDX-License-Identifier: Apache-2.0
//
// Under what conditions a policy is judged: the job's length, how well it can be measured, and what
// is asked of it. One struct for `evaluate`, the tests and the evidence.
#pragma once

#include <cstdint>

#include "policy/objective.h"

namespace hypermile {

struct Conditions {
  Objective objective;
  double iterations = 5000;       // length of the job
  bool tell_length = true;        // whether the policy knows it
  double window_iterations = 30;  // that one window's noise refers to
  double settle_iterations = 5;   // run and not measured after a change of Setting
  double time_noise = 0.01;       // relative standard deviation of one measured window
  double power_noise = 0.01;
  double drift = 0;               // relative amplitude of the job's own slow drift
  double drift_period = 2500;     // iterations
  double predictor_error = 0.08;  // of a predicted Setting, relative to the default's value
  std::uint64_t seed = 1;
};

}  // namespace hypermile
