// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "policy/policy.h"

namespace hypermile {

std::size_t predicted_best(std::span<const PredictedRatio> ratios, const Objective& objective,
                           Watts default_power) {
  const auto bound = effective_bound(objective);
  std::size_t best = 0;
  double least = 1;
  for (std::size_t i = 1; i < ratios.size(); ++i) {
    const double time = std::exp(ratios[i].log_time);
    const double power = std::exp(ratios[i].log_energy) / time;
    if (bound && time > 1 + *bound) continue;
    if (objective.power_budget && default_power * power > *objective.power_budget) continue;
    const double score_here = score(objective, time, power, default_power);
    if (score_here < least) {
      least = score_here;
      best = i;
    }
  }
  return best;
}

}  // namespace hypermile
