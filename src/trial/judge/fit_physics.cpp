// SPDX-License-Identifier: Apache-2.0
#include "trial/judge/fit_physics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "policy/prior.h"

namespace hypermile {
namespace {

constexpr std::size_t kParameters = 7;
using Vector = std::array<double, kParameters>;

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

// The simplex method of Nelder and Mead, sufficient for seven parameters and a smooth cost.
class Simplex {
 public:
  Simplex(const Vector& start, const std::vector<Target>& targets) : targets_(targets) {
    for (std::size_t i = 0; i <= kParameters; ++i) {
      Vector corner = start;
      if (i > 0) corner[i - 1] += 0.7;
      corners_.push_back({cost(corner, targets), corner});
    }
  }

  std::pair<double, Vector> minimise(int steps) {
    for (int i = 0; i < steps; ++i) step();
    std::ranges::sort(corners_);
    return corners_.front();
  }

 private:
  void step() {
    std::ranges::sort(corners_);
    Vector centre{};
    for (std::size_t i = 0; i < kParameters; ++i) {
      for (std::size_t j = 0; j < kParameters; ++j)
        centre[j] += corners_[i].second[j] / kParameters;
    }
    auto& worst = corners_.back();
    const auto reflected = along(centre, worst.second, -1);
    if (reflected.first < corners_.front().first) {
      worst = std::min(reflected, along(centre, worst.second, -2));
    } else if (reflected.first < corners_[kParameters - 1].first) {
      worst = reflected;
    } else if (const auto inner = along(centre, worst.second, 0.5); inner.first < worst.first) {
      worst = inner;
    } else {
      for (std::size_t i = 1; i <= kParameters; ++i) {
        corners_[i] = along(corners_.front().second, corners_[i].second, 0.5);
      }
    }
  }

  std::pair<double, Vector> along(const Vector& centre, const Vector& corner, double by) const {
    Vector at;
    for (std::size_t j = 0; j < kParameters; ++j) at[j] = centre[j] + by * (corner[j] - centre[j]);
    return {cost(at, targets_), at};
  }

  const std::vector<Target>& targets_;
  std::vector<std::pair<double, Vector>> corners_;
};

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
  std::pair<double, Vector> best{INFINITY, {}};
  for (int start = 0; start < 6; ++start) {
    Physics from = draw_broad(random);
    from.knee = std::max(from.knee, 1.1);
    best = std::min(best, Simplex(to_vector(from), targets).minimise(500));
  }
  PhysicsFit fit{to_physics(best.second), 0, 0, 0};
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
