// SPDX-License-Identifier: Apache-2.0
#include "trial/judge/fit_physics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/nelder_mead.h"
#include "base/random.h"
#include "policy/prior.h"

namespace hypermile {
namespace {

using Vector = std::vector<double>;  // the seven parameters on unbounded axes

struct Target {
  double clock = 1;
  double log_time = 0;
  double log_power = 0;
  double weight = 1;
};

// Errors of the log ratio are measured in these units. Clocks below kFarClock have little weight,
// because a search must be right near the default first.
constexpr double kTimeScale = 0.005;
constexpr double kPowerScale = 0.015;
constexpr double kFarClock = 0.6;
constexpr double kFarWeight = 0.02;
constexpr double kFirstStep = 0.7;  // of each parameter, on its unbounded axis
constexpr int kEvaluations = 900;   // enough for seven parameters to converge

double logit(double share) {
  return std::log(share / (1 - share));
}
double expit(double x) {
  return 1 / (1 + std::exp(-x));
}

// Maps the parameters to unbounded axes.
Vector to_vector(const Physics& p) {
  const auto share = [](double s) { return logit(std::clamp(s, 0.003, 0.99)); };
  return {share(p.fixed_share),  share(p.core_share),   std::log(p.overlap),
          std::log(p.knee - 1),  share(p.static_share), std::log(p.voltage_slope),
          share(p.voltage_floor)};
}

Physics to_physics(const Vector& v) {
  Physics p;
  p.fixed_share = expit(v[0]);
  p.core_share = expit(v[1]);
  p.overlap = std::exp(std::clamp(v[2], 0.0, 2.3));
  p.knee = 1 + std::exp(std::clamp(v[3], -4.0, 1.1));
  p.static_share = expit(v[4]);
  p.voltage_slope = std::exp(std::clamp(v[5], -4.0, 2.1));
  p.voltage_floor = expit(v[6]);
  return p;
}

double cost(const Vector& v, const std::vector<Target>& targets) {
  const Physics p = to_physics(v);
  double sum = 0;
  for (const Target& t : targets) {
    const double time = (std::log(p.time_ratio(t.clock)) - t.log_time) / kTimeScale;
    const double power = (std::log(p.power_ratio(t.clock)) - t.log_power) / kPowerScale;
    sum += t.weight * (time * time + power * power);
  }
  // A weak pull towards 0 keeps parameters that the curve does not determine plausible.
  for (const double x : v) sum += 0.02 * x * x;
  return sum;
}

std::vector<Target> targets_of(const Curve& curve) {
  std::vector<Target> targets;
  if (!curve.default_values.sm_clock) return targets;
  const CurvePoint& base = curve.default_point();
  for (const CurvePoint& point : curve.points) {
    const Setting& s = point.setting;
    if (!s.sm_clock || s.memory_clock || s.power_limit) continue;
    const double clock = *s.sm_clock / *curve.default_values.sm_clock;
    targets.push_back({clock, std::log(point.time / base.time), std::log(point.power / base.power),
                       clock >= kFarClock ? 1 : kFarWeight});
  }
  return targets;
}

}  // namespace

std::optional<PhysicsFit> fit_physics(const Curve& curve) {
  const std::vector<Target> targets = targets_of(curve);
  if (targets.size() < 4) return std::nullopt;
  Random random(11);
  const auto error = [&](const Vector& at) { return cost(at, targets); };
  Minimum best{{}, INFINITY};
  for (int start = 0; start < 6; ++start) {
    Physics from = draw_broad(random);
    from.knee = std::max(from.knee, 1.1);
    Minimum found = nelder_mead(error, to_vector(from), kFirstStep, kEvaluations);
    if (found.value < best.value) best = std::move(found);
  }
  PhysicsFit fit{to_physics(best.at), 0, 0, 0};
  for (const Target& t : targets) {
    if (t.clock < kFarClock) continue;
    const double time = std::log(fit.physics.time_ratio(t.clock)) - t.log_time;
    const double power = std::log(fit.physics.power_ratio(t.clock)) - t.log_power;
    fit.time_error += time * time;
    fit.power_error += power * power;
    ++fit.points;
  }
  const auto n = static_cast<double>(std::max<std::size_t>(fit.points, 1));
  fit.time_error = std::sqrt(fit.time_error / n);
  fit.power_error = std::sqrt(fit.power_error / n);
  return fit;
}

}  // namespace hypermile
