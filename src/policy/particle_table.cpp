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

// A place on the grid that need not be whole.
struct Place {
  Eigen::Index low = 0;
  float share = 0;  // of the next column
};

Place place_at(double columns) {
  const double within = std::clamp(columns, 0.0, static_cast<double>(ParticleGrid::kClocks - 1));
  const auto low = std::min(static_cast<Eigen::Index>(within), ParticleGrid::kClocks - 2);
  return {low, static_cast<float>(within - static_cast<double>(low))};
}

// The place at which a particle draws that power; its power rises with the clock.
Place place_of_power(const Eigen::ArrayXf& powers, float log_power) {
  const float* first = powers.data();
  const float* last = first + powers.size();
  const float* above = std::lower_bound(first, last, log_power);
  if (above == first) return place_at(0);
  if (above == last) return place_at(static_cast<double>(powers.size()));
  const float below = *(above - 1);
  return {above - 1 - first, (log_power - below) / (*above - below)};
}

void tabulate_clocks(const ParticleGrid& grid, const Slice& slice, ParticleTable& table) {
  for (Eigen::Index i = 1; i < table.log_time.cols(); ++i) {
    const double ratio = slice.points[static_cast<std::size_t>(i)].ratio;
    const Place at = place_at((ratio - kLowestClock) / kClockStep);
    const auto between = [&](const Eigen::ArrayXXf& on_grid) {
      return (1 - at.share) * on_grid.col(at.low) + at.share * on_grid.col(at.low + 1);
    };
    table.log_time.col(i) = between(grid.log_time);
    table.log_power.col(i) = between(grid.log_power);
  }
}

// A board holds the mean near its limit where power is steady; where it swings, peaks meet the
// limit long before the mean does.
LimitResponse draw_response(Random& random) {
  const double sharpness = std::exp(random.uniform(std::log(5.0), std::log(30.0)));
  const bool swings = random.uniform() < kSwinging;
  return {sharpness, swings ? random.uniform(0.7, 0.92) : random.uniform(0.92, 1.02)};
}

void tabulate_limits(const ParticleGrid& grid, const Slice& slice, Random& random,
                     ParticleTable& table) {
  for (Eigen::Index k = 0; k < table.log_time.rows(); ++k) {
    const LimitResponse response = draw_response(random);
    const double at_default = response.power_ratio(slice.points.front().ratio);
    const Eigen::ArrayXf powers = grid.log_power.row(k).transpose();
    for (Eigen::Index i = 1; i < table.log_time.cols(); ++i) {
      const double ratio = slice.points[static_cast<std::size_t>(i)].ratio;
      const auto wanted =
          static_cast<float>(std::min(0.0, std::log(response.power_ratio(ratio) / at_default)));
      const Place at = place_of_power(powers, wanted);
      table.log_time(k, i) =
          (1 - at.share) * grid.log_time(k, at.low) + at.share * grid.log_time(k, at.low + 1);
      table.log_power(k, i) = std::max(wanted, powers(0));
    }
  }
}

}  // namespace

ParticleGrid::ParticleGrid(std::span<const Physics> particles)
    : log_time(static_cast<Eigen::Index>(particles.size()), kClocks),
      log_power(static_cast<Eigen::Index>(particles.size()), kClocks) {
  for (Eigen::Index k = 0; k < log_time.rows(); ++k) {
    const Physics& physics = particles[static_cast<std::size_t>(k)];
    for (Eigen::Index i = 0; i < kClocks; ++i) {
      const double clock = kLowestClock + kClockStep * static_cast<double>(i);
      log_time(k, i) = static_cast<float>(std::log(physics.time_ratio(clock)));
      log_power(k, i) = static_cast<float>(std::log(physics.power_ratio(clock)));
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
  ParticleTable table{Eigen::ArrayXXf::Zero(rows, columns), Eigen::ArrayXXf::Zero(rows, columns)};
  if (slice.limits) {
    Random random(seed);
    tabulate_limits(grid, slice, random, table);
  } else {
    tabulate_clocks(grid, slice, table);
  }
  return table;
}

}  // namespace hypermile
