// SPDX-License-Identifier: Apache-2.0
//
// What a judge knows and a policy does not: which setting of a curve is best, and how good each is.
// Called by replay.cpp and the evidence programs; pure.
#pragma once

#include "sweep/curve.h"
#include "trial/judge/conditions.h"

namespace hypermile {

// The true values of one setting, relative to the default.
struct Outcome {
  double time_ratio = 1;
  double power_ratio = 1;
  double score = 1;
  double saving = 0;  // by the objective's measure, see saved_share()
  bool within_bound = true;
  double slowdown() const { return time_ratio - 1; }
  double saved() const { return saving; }
};

// Tolerance for rounding in comparisons with the bound.
inline constexpr double kBoundEpsilon = 1e-9;

Outcome outcome_of(const Curve& curve, std::size_t point, const Objective& objective);

// The point of least score within the bound and the power budget; the default where no point is
// better.
std::size_t best_point(const Curve& curve, const Objective& objective);

}  // namespace hypermile
