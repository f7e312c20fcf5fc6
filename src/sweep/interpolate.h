// SPDX-License-Identifier: Apache-2.0
//
// Fills the gaps of a densely swept curve: time and power are linear in the SM clock between
// neighbours. Called by make_curves(); cannot fail.
#pragma once

#include <vector>

#include "sweep/curve.h"

namespace hypermile {

// Returns points every `step` down from the default's SM clock to the lowest measured one, for each
// combination of the other knobs with at least two SM clocks. `points` are in a curve's order; they
// are returned unchanged where the default's SM clock is unknown or SM was not swept.
std::vector<CurvePoint> interpolate(const Curve& curve, const std::vector<CurvePoint>& points,
                                    Mhz step);

}  // namespace hypermile
