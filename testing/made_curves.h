// SPDX-License-Identifier: Apache-2.0
//
// Small curves with known answers, for tests: time and power are functions of the clock ratio.
#pragma once

#include <functional>

#include "sweep/curve.h"

namespace hypermile {

// SM clocks every `step` MHz from `top` (the default) down to 0.4 of it.
inline Curve clock_curve(const std::function<double(double)>& time,
                         const std::function<double(double)>& power, double top = 1400,
                         double step = 20) {
  Curve curve;
  curve.key = JobKey{"test GPU", "job", "", ""};
  curve.default_values.sm_clock = Mhz(top);
  const auto add = [&](double clock, const Setting& setting) {
    const double y = clock / top;
    curve.points.push_back(
        CurvePoint{setting, Seconds(0.1 * time(y)), Watts(300 * power(y)), Mhz(clock), 1});
  };
  add(top, Setting{});
  for (double clock = top - step; clock >= 0.4 * top; clock -= step) {
    add(clock, Setting{.sm_clock = Mhz(clock)});
  }
  return curve;
}

}  // namespace hypermile
