// SPDX-License-Identifier: Apache-2.0
//
// One Setting from the first iteration to the last, and no question asked. "fixed:95%" is the rule
// of thumb that people use today.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parse.h"
#include "policy/baselines/hold_setting.h"
#include "policy/makers.h"

namespace hypermile {
namespace {

// The one knob that a share is a share of: the SM clock, or the limit where no clock can be set.
std::optional<double> value_of(const Setting& setting, bool clocks) {
  if (clocks) {
    if (!setting.sm_clock || setting.memory_clock || setting.power_limit) return std::nullopt;
    return setting.sm_clock->value();
  }
  if (!setting.power_limit || setting.memory_clock || setting.sm_clock) return std::nullopt;
  return setting.power_limit->value();
}

// The lowest Setting at or above `share` of the default; the default itself where there is none.
std::size_t nearest_share(double share, const PolicyContext& context) {
  const bool clocks =
      std::ranges::any_of(context.settings, [](const Setting& s) { return s.has(Knob::kSmClock); });
  double top = 0;
  if (clocks && context.default_values.sm_clock) top = context.default_values.sm_clock->value();
  if (!clocks && context.default_values.power_limit) {
    top = context.default_values.power_limit->value();
  }
  if (top <= 0) {
    for (const Setting& s : context.settings) top = std::max(top, value_of(s, clocks).value_or(0));
  }
  std::size_t best = 0;
  double lowest = INFINITY;
  for (std::size_t i = 1; i < context.settings.size(); ++i) {
    const auto value = value_of(context.settings[i], clocks);
    if (!value || *value < share * top * (1 - 1e-9) || *value >= lowest) continue;
    best = i;
    lowest = *value;
  }
  return best;
}

}  // namespace

Result<std::unique_ptr<Policy>> make_fixed_policy(std::string_view setting,
                                                  const PolicyContext& context) {
  if (setting.ends_with('%')) {
    const Result<double> share = parse_fraction(setting);
    if (!share || *share <= 0 || *share > 1) {
      return Error{ErrorCode::kUsage, fmt::format("policy 'fixed:{}': not a share", setting),
                   "write fixed:95%"};
    }
    return std::unique_ptr<Policy>(std::make_unique<HoldSetting>(
        nearest_share(*share, context), context.window_iterations, "fixed"));
  }
  ASSIGN_OR_RETURN(const Setting wanted, parse_setting(setting));
  const auto found = std::ranges::find(context.settings, wanted);
  if (found == context.settings.end()) {
    return Error{
        ErrorCode::kUsage, fmt::format("no Setting '{}' to choose here", to_string(wanted)),
        fmt::format("the lowest is {}",
                    context.settings.empty() ? "default" : to_string(context.settings.back()))};
  }
  return std::unique_ptr<Policy>(
      std::make_unique<HoldSetting>(static_cast<std::size_t>(found - context.settings.begin()),
                                    context.window_iterations, "fixed"));
}

}  // namespace hypermile
