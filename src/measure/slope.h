// SPDX-License-Identifier: Apache-2.0
//
// The rate at which one quantity grows with another, with its error: seconds over iterations,
// joules over iterations, joules over seconds. Every Window uses this estimator. Pure; cannot fail.
//
// Two kinds of scatter disturb such points. Growth itself varies: iterations differ, and neighbours
// are alike (long batches, slow minutes), so deviations accumulate. Single points are off: a host
// runs ahead of its GPU, a counter is read between two steps; such deviations do not accumulate.
// Both are estimated from the spread of growth over short and over long stretches. A long stretch
// is longer than the likeness of neighbours reaches, which would otherwise make the error look too
// small.
#pragma once

#include <optional>
#include <span>

namespace hypermile {

struct SlopePoint {
  double x = 0;
  double y = 0;
};

struct Slope {
  double value = 0;
  // Relative standard error. It is widened by Student's t where few stretches were available, so
  // that ±1.96 of it cover the truth in 95 of 100 cases. Absent with fewer than four points.
  std::optional<double> error;
};

// The points come in order of x; one that does not increase x is skipped. nullopt with fewer than
// two points or where y does not grow.
std::optional<Slope> estimate_slope(std::span<const SlopePoint> points);

}  // namespace hypermile
