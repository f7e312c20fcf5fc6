// SPDX-License-Identifier: Apache-2.0
#include "policy/particle_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <string>

#include "base/random.h"
#include "policy/prior.h"

namespace hypermile {
namespace {

constexpr double kSwinging = 0.3;  // share of jobs whose power swings within an iteration
constexpr double kClockStep = (1 - kLowestClock) / static_cast<double>(ParticleGrid::kClocks - 1);

struct LogRatios {
  double time = 0;
  double power = 0;
};

// At a place on the grid that need not be whole.
LogRatios interpolate_at(const ParticleGrid& grid, Eigen::Index particle, double place) {
  const double within = std::clamp(place, 0.0, static_cast<double>(ParticleGrid::kClocks - 1));
  const auto low = std::min(static_cast<Eigen::Index>(within), ParticleGrid::kClocks - 2);
  const double share = within - static_cast<double>(low);
  const auto between = [&](const ParticleRows& rows) {
    return rows(particle, low) + share * (rows(particle, low + 1) - rows(particle, low));
  };
  return {between(grid.log_time), between(grid.log_power)};
}

// The place at which a particle draws that power; its power rises with the clock.
double place_of_power(const ParticleGrid& grid, Eigen::Index particle, double log_power) {
  const double* row = grid.log_power.row(particle).data();
  const double* above = std::lower_bound(row, row + ParticleGrid::kClocks, log_power);
  if (above == row) return 0;
  if (above == row + ParticleGrid::kClocks) return static_cast<double>(ParticleGrid::kClocks - 1);
  const double below = *(above - 1);
  return static_cast<double>(above - 1 - row) + (log_power - below) / (*above - below);
}

// A board holds the mean near its limit where power is steady; where it swings, peaks meet the
// limit long before the mean does.
LimitResponse draw_response(Random& random) {
  const double sharpness = std::exp(random.uniform(std::log(5.0), std::log(30.0)));
  const bool swings = random.uniform() < kSwinging;
  return {sharpness, swings ? random.uniform(0.7, 0.92) : random.uniform(0.92, 1.02)};
}

LogRatios at_limit(const ParticleGrid& grid, Eigen::Index particle, const LimitResponse& response,
                   double limit, double default_limit) {
  const double wanted =
      std::min(0.0, std::log(response.power_ratio(limit) / response.power_ratio(default_limit)));
  LogRatios ratios = interpolate_at(grid, particle, place_of_power(grid, particle, wanted));
  ratios.power = std::max(wanted, grid.log_power(particle, 0));
  return ratios;
}

}  // namespace

ParticleGrid::ParticleGrid(std::span<const Physics> particles)
    : log_time(static_cast<Eigen::Index>(particles.size()), kClocks),
      log_power(static_cast<Eigen::Index>(particles.size()), kClocks) {
  for (Eigen::Index k = 0; k < log_time.rows(); ++k) {
    const Physics& physics = particles[static_cast<std::size_t>(k)];
    for (Eigen::Index i = 0; i < kClocks; ++i) {
      const double clock = kLowestClock + kClockStep * static_cast<double>(i);
      log_time(k, i) = std::log(physics.time_ratio(clock));
      log_power(k, i) = std::log(physics.power_ratio(clock));
    }
  }
}

std::shared_ptr<const ParticleGrid> prior_grid(std::size_t count, std::string_view without_gpu) {
  static std::mutex mutex;
  static std::map<std::pair<std::size_t, std::string>, std::shared_ptr<const ParticleGrid>> made;
  const std::lock_guard lock(mutex);
  auto& grid = made[{count, gpu_family(without_gpu)}];
  if (!grid) grid = std::make_shared<const ParticleGrid>(prior_particles(count, without_gpu));
  return grid;
}

ParticleTable tabulate(const ParticleGrid& grid, const Slice& slice, std::uint64_t seed) {
  const auto rows = grid.log_time.rows();
  const auto columns = static_cast<Eigen::Index>(slice.points.size());
  ParticleTable table{ParticleRows::Zero(rows, columns), ParticleRows::Zero(rows, columns)};
  Random random(seed);
  for (Eigen::Index k = 0; k < rows; ++k) {
    const LimitResponse response = draw_response(random);
    for (Eigen::Index i = 1; i < columns; ++i) {
      const double ratio = slice.points[static_cast<std::size_t>(i)].ratio;
      const LogRatios ratios = slice.limits
                                   ? at_limit(grid, k, response, ratio, slice.points.front().ratio)
                                   : interpolate_at(grid, k, (ratio - kLowestClock) / kClockStep);
      table.log_time(k, i) = ratios.time;
      table.log_power(k, i) = ratios.power;
    }
  }
  return table;
}

}  // namespace hypermile
