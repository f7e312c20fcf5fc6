// SPDX-License-Identifier: Apache-2.0
//
// How fast something grows, and how sure that is: seconds over iterations, joules over iterations,
// joules over seconds. One estimator for all of them, used by every Window.
//
// Two things scatter such points. The growth itself: iterations differ, and neighbours resemble
// each other (long batches, slow minutes), which adds up along the way. And the single point: a
// host that runs ahead of its GPU, a counter read between two steps, which does not add up. Both
// are estimated from the points: the spread of growth over short and over long stretches. Long
// means longer than the resemblance lasts, so that it cannot make the error look small.
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
  // Relative standard error, widened by Student's t where few stretches speak for it, so that
  // ± 1.96 of it covers the truth in 95 of 100 cases. Absent with fewer than four points.
  std::optional<double> error;
};

// Of points in order of x; those that do not move on in x are passed over. nullopt with fewer than
// two points or without growth in y.
std::optional<Slope> estimate_slope(std::span<const SlopePoint> points);

}  // namespace hypermile
