// SPDX-License-Identifier: Apache-2.0
#include "control/forecast_event.h"

namespace hypermile {

std::optional<Forecast> forecast_of(const Policy& policy, std::span<const Setting> settings,
                                    std::string_view name, bool exploring) {
  Forecast forecast;
  forecast.policy = name;
  forecast.exploring = exploring;
  for (const ExpectedOutcome& each : policy.expected()) {
    if (each.setting >= settings.size()) continue;
    forecast.points.push_back({settings[each.setting], each.slowdown, each.slowdown_sd, each.score,
                               each.score_sd, each.safe});
  }
  // The default alone is no forecast.
  if (forecast.points.size() < 2) return std::nullopt;
  return forecast;
}

}  // namespace hypermile
