// SPDX-License-Identifier: Apache-2.0
#include "predict/mean_curve.h"

#include <algorithm>

namespace hypermile {
namespace {

double straight(double x, double x0, double y0, double x1, double y1) {
  return x1 == x0 ? y0 : y0 + (x - x0) / (x1 - x0) * (y1 - y0);
}

bool moves_only(Knob knob, const RelativeSetting& at) {
  switch (knob) {
    case Knob::kSmClock:
      return at.sm != 1 && at.memory == 1 && !at.limit;
    case Knob::kMemoryClock:
      return at.sm == 1 && at.memory != 1 && !at.limit;
    case Knob::kPowerLimit:
      return at.sm == 1 && at.memory == 1 && at.limit;
  }
  return false;
}

}  // namespace

double position(Knob knob, const RelativeSetting& at) {
  switch (knob) {
    case Knob::kSmClock:
      return at.sm;
    case Knob::kMemoryClock:
      return at.memory;
    case Knob::kPowerLimit:
      return at.limit ? std::min(1.0, *at.limit / kLimitTop) : 1;
  }
  return 1;
}

std::optional<Ratios> interpolate_job(const Example& example, Knob knob, double ratio) {
  const MeasuredRatio top;  // the default itself
  const MeasuredRatio* above = &top;
  const MeasuredRatio* below = nullptr;
  for (const MeasuredRatio& point : example.points) {
    if (!moves_only(knob, point.at)) continue;
    const double here = position(knob, point.at);
    if (here >= ratio && here < position(knob, above->at)) above = &point;
    if (here < ratio && (below == nullptr || here > position(knob, below->at))) below = &point;
  }
  if (below == nullptr && above == &top) return std::nullopt;
  if (below == nullptr) return Ratios{above->time, above->energy};
  const double x0 = position(knob, below->at);
  const double x1 = position(knob, above->at);
  return Ratios{straight(ratio, x0, below->time, x1, above->time),
                straight(ratio, x0, below->energy, x1, above->energy)};
}

MeanCurve mean_curve(std::span<const Example> examples) {
  MeanCurve mean;
  for (const Knob knob : kAllKnobs) {
    MeanCurve::Along along{knob, {}, {}};
    double jobs = 0;
    for (const Example& example : examples) {
      if (!interpolate_job(example, knob, kCurveKnots.back())) continue;
      jobs += 1;
      for (std::size_t i = 0; i < kCurveKnots.size(); ++i) {
        const Ratios ratios = interpolate_job(example, knob, kCurveKnots[i]).value_or(Ratios{});
        along.time[i] += ratios.time;
        along.energy[i] += ratios.energy;
      }
    }
    if (jobs == 0) continue;
    for (double& sum : along.time) sum /= jobs;
    for (double& sum : along.energy) sum /= jobs;
    mean.knobs.push_back(along);
  }
  return mean;
}

Ratios MeanCurve::at(const RelativeSetting& setting) const {
  Ratios out;
  for (const Along& along : knobs) {
    const double x = position(along.knob, setting);
    if (x >= 1) continue;
    std::size_t i = 0;
    while (i + 1 < kCurveKnots.size() && kCurveKnots[i] > x) ++i;
    const double x1 = i == 0 ? 1 : kCurveKnots[i - 1];
    const double lower = std::max(x, kCurveKnots.back());
    out.time *= straight(lower, kCurveKnots[i], along.time[i], x1, i == 0 ? 1 : along.time[i - 1]);
    out.energy *=
        straight(lower, kCurveKnots[i], along.energy[i], x1, i == 0 ? 1 : along.energy[i - 1]);
  }
  return out;
}

}  // namespace hypermile
