// SPDX-License-Identifier: Apache-2.0
#include "predict/check.h"

#include <algorithm>
#include <cmath>

#include "predict/calibration.h"

namespace hypermile {
namespace {

bool within(const Bounded& bounds, double truth) {
  return truth >= bounds.low && truth <= bounds.high;
}

double half_width(const Bounded& bounds) {
  return (bounds.high - bounds.low) / 2;
}

double true_score(const MeasuredRatio& point, const Objective& objective) {
  return score(objective, point.time, point.energy / point.time, Watts(0));
}

}  // namespace

void Checker::add(const Predictor& predictor, const Example& example) {
  const auto estimates = predictor.predict(example.features, example.key.gpu, settings_of(example));
  std::size_t scored = 0;
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    const MeasuredRatio& point = example.points[i];
    if (point.at.sm < kScoredFrom) continue;
    ++scored;
    sums_.time_mae += std::abs(estimates[i].time.value - point.time);
    sums_.energy_mae += std::abs(estimates[i].energy.value - point.energy);
    sums_.time_within += within(estimates[i].time, point.time) ? 1 : 0;
    sums_.energy_within += within(estimates[i].energy, point.energy) ? 1 : 0;
    sums_.time_width += half_width(estimates[i].time);
    sums_.energy_width += half_width(estimates[i].energy);
  }
  sums_.rows += scored;
  sums_.workloads += scored > 0 ? 1 : 0;
}

CheckResult Checker::result() const {
  CheckResult result = sums_;
  if (result.rows == 0) return result;
  const auto n = static_cast<double>(result.rows);
  result.time_mae /= n;
  result.energy_mae /= n;
  for (double* sum :
       {&result.time_within, &result.energy_within, &result.time_width, &result.energy_width}) {
    *sum /= n;
  }
  result.coverage90 = (result.time_within + result.energy_within) / 2;
  return result;
}

std::size_t choose(std::span<const RatioEstimate> estimates, const Objective& objective,
                   double confidence, Watts default_power) {
  const auto bound = effective_bound(objective);
  std::size_t best = estimates.size();
  double least = 1;
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    const RatioEstimate& e = estimates[i];
    if (bound && e.time.chance_below(1 + *bound) < confidence) continue;
    const double power = e.energy.value / e.time.value;
    if (objective.power_budget && default_power > Watts(0) &&
        default_power * power > *objective.power_budget) {
      continue;
    }
    const double here = score(objective, e.time.value, power, default_power);
    if (here >= least) continue;
    least = here;
    best = i;
  }
  return best;
}

void ChoiceChecker::add(const Predictor& predictor, const Example& example) {
  const auto bound = effective_bound(objective_);
  double oracle = 1;
  for (const MeasuredRatio& point : example.points) {
    if (bound && point.time > 1 + *bound) continue;
    oracle = std::min(oracle, true_score(point, objective_));
  }
  const auto estimates = predictor.predict(example.features, example.key.gpu, settings_of(example));
  const std::size_t chosen = choose(estimates, objective_, confidence_);
  ++sums_.jobs;
  sums_.oracle_saved += 1 - oracle;
  if (chosen == estimates.size()) return;
  sums_.saved += 1 - true_score(example.points[chosen], objective_);
  if (bound && example.points[chosen].time > 1 + *bound) sums_.violations += 1;
}

ChoiceResult ChoiceChecker::result() const {
  ChoiceResult result = sums_;
  if (result.jobs == 0) return result;
  const auto n = static_cast<double>(result.jobs);
  result.oracle_saved /= n;
  result.saved /= n;
  result.violations /= n;
  return result;
}

}  // namespace hypermile
