// SPDX-License-Identifier: Apache-2.0
//
// Lists the Settings worth trying on a card: what its driver offers, from the default down. The
// controller gives them to policies, and the simulator computes its true curves over the same list.
#pragma once

#include <span>
#include <vector>

#include "gpu/gpu.h"
#include "gpu/setting.h"

namespace hypermile {

// The first entry is the default (empty). The rest descend by memory clock, SM clock and limit,
// with an absent knob before any value. SM clocks run from just below the default to 0.4 of it;
// memory clocks and limits lie below the default. A knob stays absent if the card cannot move it or
// its default is unknown. `default_values` holds the clocks seen at the default and the usual
// limit.
std::vector<Setting> setting_grid(const Capabilities& capabilities, const Setting& default_values,
                                  std::span<const Knob> knobs);

}  // namespace hypermile
