// SPDX-License-Identifier: Apache-2.0
#include "predict/relation_rows.h"

#include <algorithm>

namespace hypermile {
namespace {

// Below this lever, v is mostly noise.
constexpr double kLeastLever = 0.005;
// Dense sweeps are thinned to at most this many rows for each job, as neighbours are alike.
constexpr std::size_t kRowsOfAJob = 32;

double ratio_of(const MeasuredRatio& point, Target target) {
  return target == Target::kTime ? point.time : point.energy;
}

// The value that a ratio is divided by; nullopt where that setting was not measured.
std::optional<double> reference(Knob knob, Target target, const Example& example,
                                const MeasuredRatio& point) {
  const RelativeSetting& at = point.at;
  if (knob == Knob::kPowerLimit) {
    return at.limit && at.sm == 1 && at.memory == 1 ? std::optional(1.0) : std::nullopt;
  }
  if (at.limit) return std::nullopt;
  if (knob == Knob::kMemoryClock) return at.sm == 1 ? std::optional(1.0) : std::nullopt;
  if (at.memory == 1) return 1.0;
  const auto top =
      std::ranges::find(example.points, RelativeSetting{1, at.memory, {}}, &MeasuredRatio::at);
  if (top == example.points.end()) return std::nullopt;
  return ratio_of(*top, target);
}

}  // namespace

std::vector<RidgeRow> relation_rows(Knob knob, Target target, std::span<const Example> examples,
                                    const std::function<bool(std::size_t)>& taken) {
  std::vector<RidgeRow> rows;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (!taken(i)) continue;
    const Example& example = examples[i];
    std::vector<RidgeRow> own;
    for (const MeasuredRatio& point : example.points) {
      const double x = lever(knob, target, point.at);
      const auto base = x >= kLeastLever ? reference(knob, target, example, point) : std::nullopt;
      if (!base) continue;
      const double v = (ratio_of(point, target) / *base - 1) / x;
      own.push_back({inputs_of(example.features, point.at), x, v, 1});
    }
    const std::size_t step = (own.size() + kRowsOfAJob - 1) / kRowsOfAJob;
    const std::size_t kept = step == 0 ? 0 : (own.size() + step - 1) / step;
    for (std::size_t j = 0; j < own.size(); j += step) {
      own[j].weight = 1 / static_cast<double>(kept);
      rows.push_back(own[j]);
    }
  }
  return rows;
}

}  // namespace hypermile
