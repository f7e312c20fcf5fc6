// SPDX-License-Identifier: Apache-2.0
//
// The Settings that are worth trying on a card: what its driver lists, from the default down. The
// Controller offers them to policies on a living card; the simulator's truth is made over the same.
#pragma once

#include <span>
#include <vector>

#include "gpu/gpu.h"
#include "gpu/setting.h"

namespace hypermile {

// [0] is the default (empty); then in descending order of memory clock, SM clock, limit, absent
// knobs first. SM clocks below the default's and from 0.4 of it on, memory clocks and power limits
// below the default's. A knob that the card cannot move, or whose default is not known
// (`default_values`: clocks as seen there, the usual limit), is left alone.
std::vector<Setting> setting_grid(const Capabilities& capabilities, const Setting& default_values,
                                  std::span<const Knob> knobs);

}  // namespace hypermile
