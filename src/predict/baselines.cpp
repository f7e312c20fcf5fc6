// SPDX-License-Identifier: Apache-2.0
#include "predict/baselines.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "predict/inputs.h"

namespace hypermile {
namespace {

RatioEstimate exactly(double time, double energy) {
  return {{time, time, time}, {energy, energy, energy}};
}

// The distance, in spreads, where only one of the two jobs has a feature.
constexpr double kOneMissing = 1;

}  // namespace

std::vector<RatioEstimate> MeanCurvePredictor::predict(
    const Features&, std::string_view, std::span<const RelativeSetting> settings) const {
  std::vector<RatioEstimate> out;
  for (const RelativeSetting& setting : settings) {
    const Ratios ratios = mean_.at(setting);
    out.push_back(exactly(ratios.time, ratios.energy));
  }
  return out;
}

std::vector<RatioEstimate> RooflinePredictor::predict(
    const Features& features, std::string_view, std::span<const RelativeSetting> settings) const {
  const Inputs inputs = inputs_of(features, {});
  const double core = static_cast<double>(inputs[kCorePeak]);
  const double memory = features.get(Feature::kDramActive).value_or(NAN);
  const bool known = core + memory > 0;  // false where one of them is NaN
  std::vector<RatioEstimate> out;
  for (const RelativeSetting& setting : settings) {
    const Ratios mean = mean_.at(setting);
    double time = mean.time;
    if (known) {
      time = std::max(core / setting.sm, memory / setting.memory) / std::max(core, memory);
    }
    out.push_back(exactly(time, time * mean.energy / mean.time));
  }
  return out;
}

NearestPredictor::NearestPredictor(std::vector<Example> examples) : examples_(std::move(examples)) {
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    double n = 0;
    double sum = 0;
    double squares = 0;
    for (const Example& example : examples_) {
      const auto value = example.features.get(static_cast<Feature>(i));
      if (!value) continue;
      n += 1;
      sum += *value;
      squares += *value * *value;
    }
    if (n < 2) continue;
    spread_[i] = std::sqrt(std::max(0.0, squares / n - (sum / n) * (sum / n)));
  }
}

double NearestPredictor::distance(const Features& a, const Features& b) const {
  double sum = 0;
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    if (spread_[i] <= 0) continue;
    const auto x = a.get(static_cast<Feature>(i));
    const auto y = b.get(static_cast<Feature>(i));
    if (!x && !y) continue;
    const double apart = x && y ? (*x - *y) / spread_[i] : kOneMissing;
    sum += apart * apart;
  }
  return sum;
}

std::vector<RatioEstimate> NearestPredictor::predict(
    const Features& features, std::string_view, std::span<const RelativeSetting> settings) const {
  const Example* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Example& example : examples_) {
    const double here = distance(features, example.features);
    if (here >= least) continue;
    least = here;
    nearest = &example;
  }
  std::vector<RatioEstimate> out;
  for (const RelativeSetting& setting : settings) {
    Ratios ratios;
    for (const Knob knob : kAllKnobs) {
      const double ratio = position(knob, setting);
      if (nearest == nullptr || ratio >= 1) continue;
      const Ratios own = interpolate_job(*nearest, knob, ratio).value_or(Ratios{});
      ratios.time *= own.time;
      ratios.energy *= own.energy;
    }
    out.push_back(exactly(ratios.time, ratios.energy));
  }
  return out;
}

}  // namespace hypermile
