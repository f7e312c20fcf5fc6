// SPDX-License-Identifier: Apache-2.0
//
// Fits the search's physics model to a measured curve. Only tools/fit_search_prior.cpp calls it, to
// make the table of the prior; a search weighs that table and fits nothing. Pure.
#pragma once

#include <optional>

#include "policy/physics.h"
#include "sweep/curve.h"

namespace hypermile {

struct PhysicsFit {
  Physics physics;
  double time_error = 0;  // root mean square of the log ratio, above 0.6 of the default clock
  double power_error = 0;
  std::size_t points = 0;
};

// Uses the points that move only the SM clock; nullopt with fewer than four. Least squares from
// several fixed starts.
std::optional<PhysicsFit> fit_physics(const Curve& curve);

}  // namespace hypermile
