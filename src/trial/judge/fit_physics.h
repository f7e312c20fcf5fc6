// SPDX-License-Identifier: Apache-2.0
//
// Fits the search's physics model to a measured curve. Only the tool that makes the prior's table
// calls it; a search never fits, it weighs.
#pragma once

#include <optional>

#include "policy/physics.h"
#include "sweep/curve.h"

namespace hypermile {

struct PhysicsFit {
  Physics physics;
  double time_error = 0;  // root mean square of ln ratio, clocks above 0.6 of the default's
  double power_error = 0;
  std::size_t points = 0;
};

// Uses the points that move the SM clock alone; nullopt with fewer than four of them. Least squares
// from several starts, the same ones each time.
std::optional<PhysicsFit> fit_physics(const Curve& curve);

}  // namespace hypermile
