// SPDX-License-Identifier: Apache-2.0
#include "measure/energy_curve.h"

#include <algorithm>

namespace hypermile {
namespace {

// Power samples that are further apart than this do not reveal the power between them.
constexpr Seconds kGap = milliseconds(250);

// Trapezoidal rule: between two samples power is their mean.
std::vector<EnergyCounterStep> integrate(std::span<const TimedPower> samples) {
  std::vector<EnergyCounterStep> sums;
  Joules sum(0);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i > 0) {
      const Watts mean = (samples[i].power + samples[i - 1].power) / 2;
      sum += mean * (samples[i].time - samples[i - 1].time);
    }
    sums.push_back({samples[i].time, sum});
  }
  return sums;
}

bool covers(std::span<const TimedPower> samples, Instant from, Instant to) {
  if (samples.size() < 2 || samples.front().time - from > kGap || to - samples.back().time > kGap) {
    return false;
  }
  return std::ranges::adjacent_find(samples, [&](const TimedPower& a, const TimedPower& b) {
           return b.time > from && a.time < to && b.time - a.time > kGap;
         }) == samples.end();
}

Joules between(const EnergyCounterStep& a, const EnergyCounterStep& b, double share) {
  return a.energy + (b.energy - a.energy) * share;
}

// Index of the pair of points around `time`, or of the outermost pair beyond the ends. Needs two
// points.
std::size_t segment(std::span<const EnergyCounterStep> points, Instant time) {
  const auto after = std::ranges::upper_bound(points, time, {}, &EnergyCounterStep::time);
  const auto index = static_cast<std::size_t>(after - points.begin());
  return std::clamp<std::size_t>(index, 1, points.size() - 1) - 1;
}

}  // namespace

EnergyCurve::EnergyCurve(std::span<const EnergyCounterStep> steps,
                         std::span<const TimedPower> history, std::span<const TimedPower> readings)
    : counted_(steps.size() >= 2) {
  const bool counted = counted_;
  const auto enough = [&](std::span<const TimedPower> samples) {
    if (!counted) return samples.size() >= 2;
    return covers(samples, steps.front().time, steps.back().time);
  };
  if (enough(history)) {
    integrated_ = integrate(history);
  } else if (enough(readings)) {
    integrated_ = integrate(readings);
  }
  knots_ = counted_ ? std::vector<EnergyCounterStep>(steps.begin(), steps.end()) : integrated_;
}

Joules EnergyCurve::integral(Instant time) const {
  // Slightly beyond its ends, power is taken to continue unchanged.
  const std::size_t i = segment(integrated_, time);
  const EnergyCounterStep& a = integrated_[i];
  const EnergyCounterStep& b = integrated_[i + 1];
  return between(a, b, (time - a.time) / (b.time - a.time));
}

std::optional<Joules> EnergyCurve::at(Instant time) const {
  if (knots_.size() < 2 || time < knots_.front().time || time > knots_.back().time) {
    return std::nullopt;
  }
  const std::size_t i = segment(knots_, time);
  const EnergyCounterStep& a = knots_[i];
  const EnergyCounterStep& b = knots_[i + 1];
  if (counted_ && integrated_.size() >= 2) {
    const Joules whole = integral(b.time) - integral(a.time);
    if (whole > Joules(0)) return between(a, b, (integral(time) - integral(a.time)) / whole);
  }
  return between(a, b, (time - a.time) / (b.time - a.time));
}

std::optional<double> EnergyCurve::disagreement(Instant from, Instant to) const {
  if (!counted_ || integrated_.size() < 2) return std::nullopt;
  const Joules integrated = integral(to) - integral(from);
  const std::optional<Joules> first = at(from);
  const std::optional<Joules> last = at(to);
  if (!first || !last || !(integrated > Joules(0))) return std::nullopt;
  return (*last - *first) / integrated - 1;
}

}  // namespace hypermile
