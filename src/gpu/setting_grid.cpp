// SPDX-License-Identifier: Apache-2.0
#include "gpu/setting_grid.h"

#include <algorithm>

namespace hypermile {
namespace {

constexpr double kLowestShare = 0.4;  // share of the default SM clock, as in measured curves
constexpr Watts kLimitStep = Watts(25);

// The values of one knob, starting with nullopt for the default.
using Choices = std::vector<std::optional<double>>;

Choices sm_clocks(const Capabilities& card, const Setting& defaults) {
  Choices values = {std::nullopt};
  if (card.sm_clock_lock == Support::kNo || !defaults.sm_clock) return values;
  for (const Mhz clock : card.sm_clocks) {
    if (clock < *defaults.sm_clock && clock >= *defaults.sm_clock * kLowestShare) {
      values.push_back(clock.value());
    }
  }
  return values;
}

Choices memory_clocks(const Capabilities& card, const Setting& defaults) {
  Choices values = {std::nullopt};
  if (card.memory_clock_lock == Support::kNo || !defaults.memory_clock) return values;
  for (const Mhz clock : card.memory_clocks) {
    if (clock < *defaults.memory_clock) values.push_back(clock.value());
  }
  return values;
}

Choices power_limits(const Capabilities& card, const Setting& defaults) {
  Choices values = {std::nullopt};
  const bool known = card.power_limit_range && defaults.power_limit;
  if (card.power_limit_set == Support::kNo || !known) return values;
  for (Watts limit = *defaults.power_limit - kLimitStep; limit >= card.power_limit_range->min;
       limit = limit - kLimitStep) {
    values.push_back(limit.value());
  }
  return values;
}

}  // namespace

std::vector<Setting> setting_grid(const Capabilities& capabilities, const Setting& default_values,
                                  std::span<const Knob> knobs) {
  const auto swept = [&](Knob knob, Choices (*values)(const Capabilities&, const Setting&)) {
    const bool wanted = std::ranges::find(knobs, knob) != knobs.end();
    return wanted ? values(capabilities, default_values) : Choices{std::nullopt};
  };
  std::vector<Setting> grid;
  for (const auto& memory : swept(Knob::kMemoryClock, memory_clocks)) {
    for (const auto& sm : swept(Knob::kSmClock, sm_clocks)) {
      for (const auto& limit : swept(Knob::kPowerLimit, power_limits)) {
        Setting setting;
        if (memory) setting.memory_clock = Mhz(*memory);
        if (sm) setting.sm_clock = Mhz(*sm);
        if (limit) setting.power_limit = Watts(*limit);
        grid.push_back(setting);
      }
    }
  }
  return grid;
}

}  // namespace hypermile
