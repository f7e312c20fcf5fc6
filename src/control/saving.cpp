// SPDX-License-Identifier: Apache-2.0
#include "control/saving.h"

#include <cmath>

namespace hypermile {
namespace {

// a / b - 1, its interval from those of both.
std::optional<Ratio> change(const WindowMean& a, const WindowMean& b) {
  if (!a.mean() || !b.mean() || !(*b.mean() > 0)) return std::nullopt;
  Ratio ratio{*a.mean() / *b.mean() - 1, std::nullopt};
  if (a.interval95() && b.interval95()) {
    ratio.interval95 =
        (1 + ratio.value) * std::hypot(*a.interval95() / *a.mean(), *b.interval95() / *b.mean());
  }
  return ratio;
}

const MeasuredSetting* at_default(const PhaseControl& phase) {
  return phase.at(Setting{});
}

}  // namespace

std::optional<Saving> measured_saving(const PhaseControl& phase) {
  const MeasuredSetting* usual = at_default(phase);
  if (usual == nullptr || !usual->energy.mean()) return std::nullopt;
  Saving saving;
  double variance = 0;
  bool known = usual->energy.interval95().has_value();
  for (const MeasuredSetting& measured : phase.measured) {
    if (measured.setting.empty() || !measured.energy.mean()) continue;
    saving.iterations += measured.iterations;
    saving.joules += measured.iterations * (*usual->energy.mean() - *measured.energy.mean());
    known = known && measured.energy.interval95();
    if (known) variance += std::pow(measured.iterations * *measured.energy.interval95(), 2);
  }
  if (saving.iterations <= 0) return std::nullopt;
  if (known) {
    // The default's own error is in every difference alike.
    variance += std::pow(saving.iterations * *usual->energy.interval95(), 2);
    saving.interval95 = std::sqrt(variance);
  }
  return saving;
}

std::optional<Ratio> energy_saved(const PhaseControl& phase, const Setting& setting) {
  const MeasuredSetting* usual = at_default(phase);
  const MeasuredSetting* other = phase.at(setting);
  if (usual == nullptr || other == nullptr) return std::nullopt;
  std::optional<Ratio> ratio = change(other->energy, usual->energy);
  if (ratio) ratio->value = -ratio->value;
  return ratio;
}

std::optional<Ratio> time_lost(const PhaseControl& phase, const Setting& setting) {
  const MeasuredSetting* usual = at_default(phase);
  const MeasuredSetting* other = phase.at(setting);
  if (usual == nullptr || other == nullptr) return std::nullopt;
  return change(other->time, usual->time);
}

}  // namespace hypermile
