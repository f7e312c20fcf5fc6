// SPDX-License-Identifier: Apache-2.0
#include "trial/judge/truth.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
Outcome outcome_of(const Curve& curve, std::size_t point, const Objective& objective) {
  const CurvePoint& here = curve.points[point];
  const CurvePoint& base = curve.default_point();
  Outcome outcome;
  outcome.time_ratio = here.time / base.time;
  outcome.power_ratio = here.power / base.power;
  outcome.score = score(objective, outcome.time_ratio, outcome.power_ratio, base.power);
  outcome.saving = saved_share(objective, outcome.time_ratio, outcome.power_ratio, base.power);
  const auto bound = effective_bound(objective);
  outcome.within_bound = !bound || outcome.slowdown() <= *bound + kBoundEpsilon;
  return outcome;
}

std::size_t best_point(const Curve& curve, const Objective& objective) {
  std::size_t best = 0;
  double least = 1;
  const bool default_too_strong =
      objective.power_budget && curve.default_point().power > *objective.power_budget;
  if (default_too_strong) least = INFINITY;
  for (std::size_t i = 1; i < curve.points.size(); ++i) {
    const Outcome outcome = outcome_of(curve, i, objective);
    if (!outcome.within_bound || outcome.score >= least) continue;
    if (objective.power_budget && curve.points[i].power > *objective.power_budget) continue;
    best = i;
    least = outcome.score;
  }
  return best;
}

}  // namespace hypermile
