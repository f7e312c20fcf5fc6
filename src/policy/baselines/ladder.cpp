// SPDX-License-Identifier: Apache-2.0
#include "policy/baselines/ladder.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace hypermile {
namespace {

std::optional<double> value_of(const Setting& setting, Knob knob) {
  switch (knob) {
    case Knob::kSmClock:
      if (setting.sm_clock) return setting.sm_clock->value();
      break;
    case Knob::kMemoryClock:
      if (setting.memory_clock) return setting.memory_clock->value();
      break;
    case Knob::kPowerLimit:
      if (setting.power_limit) return setting.power_limit->value();
      break;
  }
  return std::nullopt;
}

// Moves no knob but `knob` and, unless that is the knob itself, the memory clock.
bool walks(const Setting& setting, Knob knob) {
  for (const Knob other : {Knob::kSmClock, Knob::kPowerLimit}) {
    if (other != knob && setting.has(other)) return false;
  }
  return true;
}

// The default's own value of the knob; the highest of the list where that is unknown.
double top_of(const PolicyContext& context, Knob knob) {
  if (const auto known = value_of(context.default_values, knob); known && *known > 0) return *known;
  double top = 0;
  for (const Setting& s : context.settings) top = std::max(top, value_of(s, knob).value_or(0));
  return top > 0 ? top : 1;
}

// The default stays first, whatever the heights say of it.
void sort_downwards(Ladder& ladder) {
  std::ranges::stable_sort(ladder, [](const Rung& a, const Rung& b) {
    if ((a.setting == 0) != (b.setting == 0)) return a.setting == 0;
    return a.height > b.height;
  });
}

// The Settings that move `knob` alone, and for each lower memory clock those that move both.
SettingGrid ladders(const PolicyContext& context, Knob knob) {
  const double top = top_of(context, knob);
  const double memory_top = top_of(context, Knob::kMemoryClock);
  std::map<double, Ladder, std::greater<>> by_height = {{1, {{0, 1.0}}}};
  for (std::size_t i = 1; i < context.settings.size(); ++i) {
    const Setting& setting = context.settings[i];
    if (!walks(setting, knob)) continue;
    const auto memory = value_of(setting, Knob::kMemoryClock);
    const auto value = value_of(setting, knob);
    by_height[memory ? *memory / memory_top : 1].push_back({i, value ? *value / top : 1.0});
  }
  SettingGrid grid{knob, {}, {}};
  for (auto& [height, ladder] : by_height) {
    sort_downwards(ladder);
    grid.by_memory.push_back(std::move(ladder));
    grid.memory_height.push_back(height);
  }
  return grid;
}

Ladder memory_ladder(const PolicyContext& context) {
  const double top = top_of(context, Knob::kMemoryClock);
  Ladder ladder = {{0, 1.0}};
  for (std::size_t i = 1; i < context.settings.size(); ++i) {
    const Setting& setting = context.settings[i];
    if (!setting.memory_clock || !walks(setting, Knob::kMemoryClock)) continue;
    ladder.push_back({i, setting.memory_clock->value() / top});
  }
  sort_downwards(ladder);
  return ladder;
}

Ladder whole_list(const PolicyContext& context) {
  Ladder ladder;
  const auto n = static_cast<double>(context.settings.size());
  for (std::size_t i = 0; i < context.settings.size(); ++i) {
    ladder.push_back({i, 1 - static_cast<double>(i) / n});
  }
  return ladder;
}

}  // namespace

std::size_t nearest_rung(const Ladder& ladder, double height) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < ladder.size(); ++i) {
    if (std::abs(ladder[i].height - height) < std::abs(ladder[best].height - height)) best = i;
  }
  return best;
}

std::optional<std::size_t> SettingGrid::memory_of(std::size_t setting) const {
  for (std::size_t memory = 0; memory < by_memory.size(); ++memory) {
    const auto& ladder = by_memory[memory];
    if (std::ranges::find(ladder, setting, &Rung::setting) != ladder.end()) return memory;
  }
  return std::nullopt;
}

SettingGrid make_grid(const PolicyContext& context, std::span<const Knob> preferred) {
  for (const Knob knob : preferred) {
    const bool moved = std::ranges::any_of(
        context.settings, [&](const Setting& s) { return s.has(knob) && walks(s, knob); });
    if (moved) return ladders(context, knob);
  }
  if (Ladder memory = memory_ladder(context); memory.size() > 1) {
    return {Knob::kMemoryClock, {std::move(memory)}, {1}};
  }
  return {preferred.front(), {whole_list(context)}, {1}};
}

}  // namespace hypermile
