// SPDX-License-Identifier: Apache-2.0
#include "trial/judge/truth.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

// The knob that a simulated predictor guesses: the SM clock where any setting moves it, else the
// limit, else the memory clock.
Knob predicted_knob(const Curve& curve) {
  for (const Knob knob : {Knob::kSmClock, Knob::kPowerLimit}) {
    if (std::ranges::any_of(curve.points,
                            [&](const CurvePoint& p) { return p.setting.has(knob); })) {
      return knob;
    }
  }
  return Knob::kMemoryClock;
}

double value(const Setting& setting, Knob knob, double otherwise) {
  switch (knob) {
    case Knob::kSmClock:
      return setting.sm_clock ? setting.sm_clock->value() : otherwise;
    case Knob::kMemoryClock:
      return setting.memory_clock ? setting.memory_clock->value() : otherwise;
    case Knob::kPowerLimit:
      return setting.power_limit ? setting.power_limit->value() : otherwise;
  }
  return otherwise;
}

Setting without(Setting setting, Knob knob) {
  if (knob == Knob::kSmClock) setting.sm_clock.reset();
  if (knob == Knob::kMemoryClock) setting.memory_clock.reset();
  if (knob == Knob::kPowerLimit) setting.power_limit.reset();
  return setting;
}

}  // namespace

Outcome outcome_of(const Curve& curve, std::size_t point, const Objective& objective) {
  const CurvePoint& here = curve.points[point];
  const CurvePoint& base = curve.default_point();
  Outcome outcome;
  outcome.time_ratio = here.time / base.time;
  outcome.power_ratio = here.power / base.power;
  outcome.score = score(objective, outcome.time_ratio, outcome.power_ratio, base.power);
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

std::size_t predicted_point(const Curve& curve, std::size_t best, double error, Random& random) {
  const Knob knob = predicted_knob(curve);
  double top = value(curve.default_values, knob, 0);
  for (const CurvePoint& p : curve.points) top = std::max(top, value(p.setting, knob, 0));
  const Setting& from = curve.points[best].setting;
  const double guess = value(from, knob, top) + error * top * random.gaussian();
  std::size_t nearest = best;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const Setting& setting = curve.points[i].setting;
    if (without(setting, knob) != without(from, knob)) continue;
    if (std::abs(value(setting, knob, top) - guess) <
        std::abs(value(curve.points[nearest].setting, knob, top) - guess)) {
      nearest = i;
    }
  }
  return nearest;
}

}  // namespace hypermile
