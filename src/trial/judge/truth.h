// SPDX-License-Identifier: Apache-2.0
//
// What a judge knows and a policy does not: which Setting of a curve is best, and how good each is.
#pragma once

#include "base/random.h"
#include "sweep/curve.h"
#include "trial/judge/conditions.h"

namespace hypermile {

// Of one Setting, relative to the default, noise free.
struct Outcome {
  double time_ratio = 1;
  double power_ratio = 1;
  double score = 1;
  bool within_bound = true;
  double slowdown() const { return time_ratio - 1; }
  double saved() const { return 1 - score; }
};

// Slack in comparisons with the bound, for rounding alone.
inline constexpr double kBoundEpsilon = 1e-9;

Outcome outcome_of(const Curve& curve, std::size_t point, const Objective& objective);

// The point of least score within the bound (and the power budget); the default when nothing is
// better.
std::size_t best_point(const Curve& curve, const Objective& objective);

// A predictor's guess as good as published ones: the best point's SM clock (or limit) off by a
// normal error of `error` times the default's value, at the nearest listed Setting that shares the
// best one's other knobs.
std::size_t predicted_point(const Curve& curve, std::size_t best, double error, Random& random);

}  // namespace hypermile
