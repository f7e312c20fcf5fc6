// SPDX-License-Identifier: Apache-2.0
#include "trial/sweeping/sweep_order.h"

#include "measure/features.h"

namespace hypermile {
namespace {

constexpr std::size_t kSettingsBetweenDefaults = 4;

template <class Tag>
std::optional<double> number(const std::optional<Quantity<Tag>>& value) {
  return value ? std::optional(value->value()) : std::nullopt;
}

}  // namespace

std::vector<Setting> sweep_order(const std::vector<Setting>& settings) {
  std::vector<Setting> order = {Setting()};
  for (std::size_t i = 0; i < settings.size(); ++i) {
    order.push_back(settings[i]);
    const bool last = i + 1 == settings.size();
    if (last || (i + 1) % kSettingsBetweenDefaults == 0) order.emplace_back();
  }
  return order;
}

SweepEntry entry_of(const Window& window) {
  SweepEntry entry;
  entry.setting = window.setting;
  entry.time_s = number(window.time_per_iteration);
  entry.power_w = number(window.power);
  entry.time_error = window.time_error;
  entry.power_error = window.power_error;
  entry.iterations = window.iterations;
  entry.sm_mhz = number(window.sm_clock);
  entry.mem_mhz = number(window.memory_clock);
  entry.throttled_share = window.throttled_share;
  if (!window.features) return entry;
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    const auto feature = static_cast<Feature>(i);
    if (const auto value = window.features->get(feature)) {
      entry.features[std::string(name_of(feature))] = *value;
    }
  }
  return entry;
}

}  // namespace hypermile
