// SPDX-License-Identifier: Apache-2.0
//
// What each physics model predicts at each Setting of a slice. The models are worked out once on a
// fine grid of clock ratios; a slice's table is then interpolated from it, so that a decision never
// waits for a thousand power functions. Single precision: beliefs are good to a few digits, and
// making and reading these tables is most of a decision's time.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "policy/physics.h"
#include "policy/slice.h"

namespace hypermile {

// ln time and ln power ratio to the default of every particle at clock ratios from kLowestClock
// to 1.
struct ParticleGrid {
  static constexpr Eigen::Index kClocks = 161;

  explicit ParticleGrid(std::span<const Physics> particles);

  Eigen::ArrayXXf log_time;
  Eigen::ArrayXXf log_power;
};

// The grid of prior_particles(count, without_gpu), worked out once for all searches of a process.
std::shared_ptr<const ParticleGrid> prior_grid(std::size_t count, std::string_view without_gpu);

// The same at each point of a slice: particles (rows) by points (columns).
struct ParticleTable {
  Eigen::ArrayXXf log_time;
  Eigen::ArrayXXf log_power;
};

// Limits are turned into clocks through each particle's own power curve and a response of the board
// to its limit that is drawn from `seed`.
ParticleTable tabulate(const ParticleGrid& grid, const Slice& slice, std::uint64_t seed);

}  // namespace hypermile
