// SPDX-License-Identifier: Apache-2.0
#include "predict/predictor.h"

#include <cmath>
#include <numbers>

namespace hypermile {
namespace {

// Half the width of a 90 % interval, in standard deviations.
constexpr double kNinety = 1.645;

double share(const std::optional<Mhz>& clock, const std::optional<Mhz>& normal) {
  return clock && normal && *normal > Mhz(0) ? *clock / *normal : 1;
}

}  // namespace

RelativeSetting relative(const Setting& setting, const Setting& default_values,
                         Watts default_power) {
  RelativeSetting out;
  out.sm = share(setting.sm_clock, default_values.sm_clock);
  out.memory = share(setting.memory_clock, default_values.memory_clock);
  if (setting.power_limit && default_power > Watts(0)) {
    out.limit = *setting.power_limit / default_power;
  }
  return out;
}

double Bounded::chance_below(double limit) const {
  const double deviation = (high - low) / 2 / kNinety;
  if (deviation <= 0) return value <= limit ? 1 : 0;
  return 0.5 * std::erfc((value - limit) / deviation / std::numbers::sqrt2);
}

}  // namespace hypermile
