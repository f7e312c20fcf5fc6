// SPDX-License-Identifier: Apache-2.0
//
// The list of Settings as a search over one knob sees it: a ladder, from the highest value (the
// default) down. Memory clocks are few, so a grid is one ladder for each of them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "policy/policy.h"

namespace hypermile {

struct Rung {
  std::size_t setting = 0;  // index into PolicyContext::settings
  double height = 1;        // the knob's value over the default's
};

using Ladder = std::vector<Rung>;

// Index of the rung nearest in height; of two equally near, the higher. `ladder` is not empty.
std::size_t nearest_rung(const Ladder& ladder, double height);

struct SettingGrid {
  Knob knob = Knob::kSmClock;  // the one that the ladders walk
  // [0]: at the default's memory clock, its first rung is the default. Then one for each lower
  // memory clock, descending, each with one rung or more. Where the default's memory clock is
  // unknown and every other Setting names one, the highest counts as the default's.
  std::vector<Ladder> by_memory;
  std::vector<double> memory_height;  // of each ladder: its memory clock over the default's

  const Ladder& main() const { return by_memory.front(); }
  // Which ladder holds the Setting; nullopt if none does.
  std::optional<std::size_t> memory_of(std::size_t setting) const;
};

// Walks the first of `preferred` that the list moves with the other (of SM clock and limit) left to
// the driver; the memory clock if there is neither; and if every Setting moves several knobs at
// once, the whole list as it stands, as if it were one knob.
SettingGrid make_grid(const PolicyContext& context, std::span<const Knob> preferred);

// What most policies walk, and what those made for power limits do.
inline constexpr Knob kClockFirst[] = {Knob::kSmClock, Knob::kPowerLimit};
inline constexpr Knob kLimitFirst[] = {Knob::kPowerLimit, Knob::kSmClock};

}  // namespace hypermile
