// SPDX-License-Identifier: Apache-2.0
//
// Fills the gaps of a densely swept curve: time and power linear in the SM clock between
// neighbours.
#pragma once

#include <vector>

#include "sweep/curve.h"

namespace hypermile {

// Points every `step` down from the default's SM clock to the lowest measured one, for each
// combination of the other knobs that was measured at two SM clocks or more. `points` are in a
// curve's order. Points are returned unchanged where the default's SM clock is not known or SM was
// not swept.
std::vector<CurvePoint> interpolate(const Curve& curve, const std::vector<CurvePoint>& points,
                                    Mhz step);

}  // namespace hypermile
