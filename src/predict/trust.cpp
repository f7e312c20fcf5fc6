// SPDX-License-Identifier: Apache-2.0
#include "predict/trust.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

Trust trust_at(const Calibration& by, const std::optional<KnobDistances>& distances,
               const RelativeSetting& at) {
  if (at.limit) return by.limits_trust;
  if (by.clocks_trust) return *by.clocks_trust;
  if (!distances) return {};
  // To the nearest card that moved a clock at all: a knob that nobody moved has no effect to trust.
  const auto of = [&](Knob knob) { return (*distances)[static_cast<std::size_t>(knob)]; };
  const double near = nearness(std::min(of(Knob::kSmClock), of(Knob::kMemoryClock)));
  return {near, near};
}

}  // namespace

void lean_on_mean(const MeanCurve& mean, const Calibration& by,
                  const std::optional<KnobDistances>& distances,
                  std::span<const RelativeSetting> settings, std::span<RawEstimate> estimates) {
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    if (settings[i] == RelativeSetting{}) continue;
    const Trust trust = trust_at(by, distances, settings[i]);
    const Ratios usual = mean.at(settings[i]);
    RawEstimate& one = estimates[i];
    one.time = usual.time + trust.time * (one.time - usual.time);
    one.energy = usual.energy + trust.energy * (one.energy - usual.energy);
  }
}

void TrustChooser::add(const Example& example, const std::string& unit,
                       std::span<const RawEstimate> estimates, const MeanCurve& mean) {
  for (std::size_t i = 0; i < example.points.size(); ++i) {
    const MeasuredRatio& point = example.points[i];
    if (!is_scored(kind_, point, estimates[i])) continue;
    families_.insert(card_family(example.key.gpu));
    const Ratios usual = mean.at(point.at);
    Errors& errors = units_[unit][example.group];
    errors.rows += 1;
    for (std::size_t k = 0; k < kShares.size(); ++k) {
      const double share = kShares[k];
      errors.time[k] +=
          std::abs(usual.time + share * (estimates[i].time - usual.time) - point.time);
      errors.energy[k] +=
          std::abs(usual.energy + share * (estimates[i].energy - usual.energy) - point.energy);
    }
  }
}

std::optional<double> TrustChooser::best(std::array<double, kShares.size()> Errors::*which) const {
  std::array<double, kShares.size()> sums = {};
  for (const auto& unit : units_) {
    for (const auto& group : unit.second) {
      const Errors& errors = group.second;
      const double weight = 1 / (errors.rows * static_cast<double>(unit.second.size()));
      for (std::size_t k = 0; k < kShares.size(); ++k) sums[k] += weight * (errors.*which)[k];
    }
  }
  if (std::ranges::max(sums) == std::ranges::min(sums)) return std::nullopt;
  // Of equal ones the last: the model's own answer.
  std::size_t least = kShares.size() - 1;
  for (std::size_t k = kShares.size(); k > 0; --k) {
    if (sums[k - 1] < sums[least]) least = k - 1;
  }
  return kShares[least];
}

Trust TrustChooser::choose(const Trust& otherwise) const {
  return {best(&Errors::time).value_or(otherwise.time),
          best(&Errors::energy).value_or(otherwise.energy)};
}

}  // namespace hypermile
