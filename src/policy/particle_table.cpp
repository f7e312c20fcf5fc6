// SPDX-License-Identifier: Apache-2.0
#include "policy/particle_table.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace hypermile {
namespace {

constexpr double kSwinging = 0.3;  // share of jobs whose power swings within an iteration

struct Ratios {
  double time = 1;
  double power = 1;
};

Ratios at_clock(const Physics& physics, double ratio) {
  return {physics.time_ratio(ratio), physics.power_ratio(ratio)};
}

Ratios at_limit(const Physics& physics, const LimitResponse& response, double limit,
                double default_limit) {
  const double power =
      std::min(1.0, response.power_ratio(limit) / response.power_ratio(default_limit));
  return {physics.time_ratio(clock_for_power(physics, power)),
          std::max(power, physics.power_ratio(kLowestClock))};
}

// A board holds the mean near its limit where power is steady; where it swings, peaks meet the
// limit long before the mean does.
LimitResponse draw_response(Random& random) {
  const double sharpness = std::exp(random.uniform(std::log(5.0), std::log(30.0)));
  const bool swings = random.uniform() < kSwinging;
  return {sharpness, swings ? random.uniform(0.7, 0.92) : random.uniform(0.92, 1.02)};
}

}  // namespace

ParticleTable tabulate(std::span<const Physics> particles, const Slice& slice, std::uint64_t seed) {
  const auto rows = static_cast<Eigen::Index>(particles.size());
  const auto columns = static_cast<Eigen::Index>(slice.points.size());
  ParticleTable table{Eigen::ArrayXXd::Zero(rows, columns), Eigen::ArrayXXd::Zero(rows, columns)};
  Random random(seed);
  for (Eigen::Index k = 0; k < rows; ++k) {
    const Physics& physics = particles[static_cast<std::size_t>(k)];
    const LimitResponse response = draw_response(random);
    for (Eigen::Index i = 1; i < columns; ++i) {
      const double ratio = slice.points[static_cast<std::size_t>(i)].ratio;
      const Ratios ratios = slice.limits
                                ? at_limit(physics, response, ratio, slice.points.front().ratio)
                                : at_clock(physics, ratio);
      table.log_time(k, i) = std::log(ratios.time);
      table.log_power(k, i) = std::log(ratios.power);
    }
  }
  return table;
}

}  // namespace hypermile
