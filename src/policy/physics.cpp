// SPDX-License-Identifier: Apache-2.0
#include "policy/physics.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr double kKneeSharpness = 6;
constexpr double kVoltageSoftness = 0.03;

}  // namespace

double Physics::time_ratio(double y) const {
  const double x = 1 / std::clamp(y, kLowestClock, 1.0);
  const double starved =
      std::pow((1 + std::pow(x / knee, kKneeSharpness)) / (1 + std::pow(1 / knee, kKneeSharpness)),
               1 / kKneeSharpness);
  const double busy =
      std::pow(core_share * std::pow(x, overlap) + (1 - core_share) * std::pow(starved, overlap),
               1 / overlap);
  return fixed_share + (1 - fixed_share) * busy;
}

double Physics::power_ratio(double y) const {
  const double clock = std::clamp(y, kLowestClock, 1.0);
  const auto voltage = [&](double at) {
    return 1 + voltage_slope * kVoltageSoftness *
                   std::log1p(std::exp((at - voltage_floor) / kVoltageSoftness));
  };
  const double v = voltage(clock) / voltage(1);
  return static_share + (1 - static_share) * clock * v * v;
}

double LimitResponse::power_ratio(double limit_ratio) const {
  const double limit = std::max(accuracy * limit_ratio, 1e-3);
  return std::pow(1 + std::pow(limit, -sharpness), -1 / sharpness);
}

}  // namespace hypermile
