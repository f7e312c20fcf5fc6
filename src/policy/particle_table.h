// SPDX-License-Identifier: Apache-2.0
//
// What each physics model predicts at each Setting of a slice, worked out once per search.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <span>

#include "policy/physics.h"
#include "policy/slice.h"

namespace hypermile {

// ln time and ln power ratio to the default, of each particle (rows) at each point (columns).
struct ParticleTable {
  Eigen::ArrayXXd log_time;
  Eigen::ArrayXXd log_power;
};

// Limits are turned into clocks through each particle's own power curve and a response of the board
// to its limit that is drawn from `seed`.
ParticleTable tabulate(std::span<const Physics> particles, const Slice& slice, std::uint64_t seed);

}  // namespace hypermile
