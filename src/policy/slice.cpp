// SPDX-License-Identifier: Apache-2.0
#include "policy/slice.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr double kLowestRatio = 0.4;
// Under a limit time moves less than the limit does, and nothing before the limit bites.
constexpr double kLimitAxis = 0.7;
constexpr double kLimitBites = 1.05;
constexpr double kNoLimit = 10;  // times the mean power: never felt

double highest_clock(std::span<const Setting> settings) {
  double top = 0;
  for (const Setting& s : settings) top = std::max(top, s.sm_clock.value_or(Mhz(0)).value());
  return top;
}

// The limit at which this memory clock's Settings leave the board alone: absent, else the highest.
std::optional<Watts> open_limit(std::span<const Setting> settings, std::optional<Mhz> memory) {
  std::optional<Watts> highest;
  for (const Setting& s : settings) {
    if (s.memory_clock != memory || s.empty()) continue;
    if (!s.power_limit) return std::nullopt;
    highest = std::max(highest.value_or(Watts(0)), *s.power_limit);
  }
  return highest;
}

void add_clocks(std::span<const Setting> settings, std::optional<Mhz> memory, double top,
                Slice& slice) {
  const std::optional<Watts> limit = open_limit(settings, memory);
  const bool elsewhere = memory.has_value() || limit.has_value();
  for (std::size_t i = 1; i < settings.size(); ++i) {
    const Setting& s = settings[i];
    if (s.memory_clock != memory || s.power_limit != limit) continue;
    const double ratio = s.sm_clock ? s.sm_clock->value() / top : 1;
    if (!(ratio >= kLowestRatio) || (ratio >= 1 && !elsewhere)) continue;
    const double y = std::min(ratio, 1.0);
    slice.points.push_back({i, y, std::log(y)});
  }
  slice.own_level = elsewhere;
}

void add_limits(std::span<const Setting> settings, std::optional<Mhz> memory,
                const DefaultState& found, Slice& slice) {
  const Watts power = found.power;
  slice.points.front().ratio =
      found.power_limit ? std::max(*found.power_limit / power, 0.5) : kNoLimit;
  for (std::size_t i = 1; i < settings.size(); ++i) {
    const Setting& s = settings[i];
    if (s.memory_clock != memory || s.sm_clock) continue;
    if (!s.power_limit) {  // the memory clock alone
      slice.points.push_back({i, slice.points.front().ratio, 0});
      continue;
    }
    const double ratio = *s.power_limit / power;
    if (!(ratio > 0)) continue;
    slice.points.push_back({i, ratio, kLimitAxis * std::log(std::min(1.0, ratio / kLimitBites))});
  }
  slice.limits = true;
  slice.own_level = memory.has_value();
}

}  // namespace

std::vector<std::optional<Mhz>> memory_states(std::span<const Setting> settings) {
  std::vector<std::optional<Mhz>> states = {std::nullopt};
  for (const Setting& s : settings) {
    if (s.memory_clock && std::ranges::find(states, s.memory_clock) == states.end()) {
      states.push_back(s.memory_clock);
    }
  }
  std::sort(states.begin() + 1, states.end(), [](const auto& a, const auto& b) { return *a > *b; });
  return states;
}

Slice make_slice(std::span<const Setting> settings, std::optional<Mhz> memory,
                 const DefaultState& found) {
  Slice slice;
  slice.points.push_back({});
  const double top = found.sm_clock ? found.sm_clock->value() : highest_clock(settings);
  const bool clocks = std::ranges::any_of(
      settings, [&](const Setting& s) { return s.memory_clock == memory && s.sm_clock; });
  const bool limits = std::ranges::any_of(
      settings, [&](const Setting& s) { return s.memory_clock == memory && s.power_limit; });
  if (clocks || !limits) {
    if (top > 0 || memory) add_clocks(settings, memory, std::max(top, 1.0), slice);
  } else if (found.power > Watts(0)) {
    add_limits(settings, memory, found, slice);
  }
  std::stable_sort(slice.points.begin() + 1, slice.points.end(),
                   [](const Candidate& a, const Candidate& b) { return a.ratio > b.ratio; });
  return slice;
}

}  // namespace hypermile
