// SPDX-License-Identifier: Apache-2.0
#include "policy/expectation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "policy/particle_table.h"
#include "policy/posterior.h"
#include "policy/slice.h"

namespace hypermile {
namespace {

constexpr std::size_t kExpectationParticles = 1024;

struct Best {
  double score = 1;  // less is better; 1 is the default
  double slowdown = 0;
  std::size_t point = 0;
};

// What a perfect search would keep if this particle were the job.
Best best_of(const ParticleTable& table, Eigen::Index particle, const PolicyContext& context,
             Watts default_power) {
  const std::optional<double> bound = target_bound(context.objective);
  Best best;
  for (Eigen::Index point = 1; point < table.log_time.cols(); ++point) {
    const double time = std::exp(static_cast<double>(table.log_time(particle, point)));
    const double power = std::exp(static_cast<double>(table.log_power(particle, point)));
    if (bound && time - 1 > *bound) continue;
    if (context.objective.power_budget && default_power * power > *context.objective.power_budget) {
      continue;
    }
    const double value = score(context.objective, time, power, default_power);
    if (value < best.score) best = {value, time - 1, static_cast<std::size_t>(point)};
  }
  return best;
}

// The value below which `share` of them lie.
template <class Member>
auto quantile(std::vector<Best>& all, double share, Member member) {
  const auto at =
      all.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(all.size() - 1));
  std::ranges::nth_element(all, at, {}, member);
  return (*at).*member;
}

}  // namespace

std::optional<Expectation> expect_saving(const PolicyContext& context, const Window& at_default) {
  if (!at_default.power || !(at_default.power->value() > 0)) return std::nullopt;
  DefaultState found;
  found.sm_clock =
      context.default_values.sm_clock ? context.default_values.sm_clock : at_default.sm_clock;
  found.power_limit = context.default_values.power_limit;
  found.power = *at_default.power;
  if (!found.sm_clock) return std::nullopt;
  const Slice slice = make_slice(context.settings, std::nullopt, found);
  if (slice.points.size() < 2) return std::nullopt;
  const ParticleTable table =
      tabulate(*prior_grid(kExpectationParticles, context.prior_without), slice, context.seed);
  std::vector<Best> all;
  for (Eigen::Index particle = 0; particle < table.log_time.rows(); ++particle) {
    all.push_back(best_of(table, particle, context, found.power));
  }
  Expectation expected;
  expected.low = 1 - quantile(all, 0.9, &Best::score);
  expected.median = 1 - quantile(all, 0.5, &Best::score);
  expected.high = 1 - quantile(all, 0.1, &Best::score);
  expected.slowdown = quantile(all, 0.5, &Best::slowdown);
  expected.setting = context.settings[slice.points[quantile(all, 0.5, &Best::point)].setting];
  return expected;
}

}  // namespace hypermile
