// SPDX-License-Identifier: Apache-2.0
#include "sweep/interpolate.h"

#include <algorithm>

namespace hypermile {
namespace {

struct Knot {
  Mhz clock;
  Seconds time;
  Watts power;
};

// `knots` are in descending order of clock and span `clock`.
CurvePoint at(Mhz clock, const std::vector<Knot>& knots, Setting setting) {
  const auto below = std::ranges::find_if(knots, [&](const Knot& k) { return k.clock <= clock; });
  setting.sm_clock = clock;
  if (below == knots.begin() || below->clock == clock) {
    return CurvePoint{setting, below->time, below->power, std::nullopt, 0};
  }
  const Knot& low = *below;
  const Knot& high = *(below - 1);
  const double share = (clock - low.clock) / (high.clock - low.clock);
  return CurvePoint{setting, low.time + share * (high.time - low.time),
                    low.power + share * (high.power - low.power), std::nullopt, 0};
}

// Takes out the points that agree in every knob except SM.
std::vector<CurvePoint> take_slice(std::vector<CurvePoint>& points) {
  Setting rest = points.front().setting;
  rest.sm_clock.reset();
  std::vector<CurvePoint> slice;
  std::vector<CurvePoint> others;
  for (CurvePoint& point : points) {
    Setting mine = point.setting;
    mine.sm_clock.reset();
    (mine == rest ? slice : others).push_back(std::move(point));
  }
  points = std::move(others);
  return slice;
}

}  // namespace

std::vector<CurvePoint> interpolate(const Curve& curve, const std::vector<CurvePoint>& points,
                                    Mhz step) {
  if (!curve.default_values.sm_clock) return points;
  const Mhz top = *curve.default_values.sm_clock;
  std::vector<CurvePoint> filled;
  std::vector<CurvePoint> left = points;
  while (!left.empty()) {
    const std::vector<CurvePoint> slice = take_slice(left);
    Setting rest = slice.front().setting;
    rest.sm_clock.reset();
    std::vector<Knot> knots;
    if (rest.empty()) {
      knots.push_back({top, curve.default_point().time, curve.default_point().power});
    }
    for (const CurvePoint& point : slice) {
      // A point that leaves SM to the driver counts as at the default's clock.
      knots.push_back({point.setting.sm_clock.value_or(top), point.time, point.power});
    }
    std::ranges::sort(knots, [](const Knot& a, const Knot& b) { return a.clock > b.clock; });
    if (knots.size() < 2) {
      filled.insert(filled.end(), slice.begin(), slice.end());
      continue;
    }
    for (int k = rest.empty() ? 1 : 0;; ++k) {
      const Mhz clock = top - step * k;
      if (clock < knots.back().clock) break;
      if (clock > knots.front().clock) continue;
      filled.push_back(at(clock, knots, rest));
    }
  }
  return filled;
}

}  // namespace hypermile
