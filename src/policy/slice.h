// SPDX-License-Identifier: Apache-2.0
//
// The Settings between which one search chooses: the default and a line of others along one knob,
// the SM clock (or the power limit where no clock can be set), at one memory clock. A grid of
// several knobs is searched slice by slice.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "gpu/setting.h"

namespace hypermile {

struct Candidate {
  std::size_t setting = 0;  // index in the policy's list
  double ratio = 1;         // of clock to the default's, or of limit to the default's mean power
  double position = 0;      // where it stands on the axis of the discrepancy: a log ratio
};

struct Slice {
  std::vector<Candidate> points;  // [0] is the default, the rest descending in ratio
  bool limits = false;            // the knob is a power limit
  // The line has a level of its own, because another knob differs from the default throughout.
  bool own_level = false;
};

// What the default was found to be.
struct DefaultState {
  std::optional<Mhz> sm_clock;
  std::optional<Watts> power_limit;
  Watts power;
};

// Memory clocks of the list, highest first; nullopt is the default's own.
std::vector<std::optional<Mhz>> memory_states(std::span<const Setting> settings);

// The slice at one memory clock. Clocks at or above the default's (but the highest, where the
// memory clock differs) and under 0.4 of it are left out; limits only where no Setting of this
// memory clock moves the SM clock. `points` holds the default alone where nothing is left.
Slice make_slice(std::span<const Setting> settings, std::optional<Mhz> memory,
                 const DefaultState& found);

}  // namespace hypermile
