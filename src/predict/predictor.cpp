// SPDX-License-Identifier: Apache-2.0
#include "predict/predictor.h"

#include "base/statistics.h"

namespace hypermile {
namespace {

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
  // [low, high] is a 90 % interval, so it reaches from the 5 % to the 95 % quantile.
  const double deviation = (high - low) / 2 / normal_quantile(0.95);
  if (deviation <= 0) return value <= limit ? 1 : 0;
  return normal_cdf((limit - value) / deviation);
}

}  // namespace hypermile
