// SPDX-License-Identifier: Apache-2.0
#include "policy/baselines/trials.h"

#include <cmath>

namespace hypermile {
namespace {

// No iteration, and no board, lies outside these; ratios between values inside stay finite.
constexpr double kLeast = 1e-9;
constexpr double kMost = 1e9;

bool credible(double value) {
  return std::isfinite(value) && value >= kLeast && value <= kMost;
}

}  // namespace

std::optional<Measured> measured(const Window& window) {
  if (!window.usable()) return std::nullopt;
  if (!credible(window.time_per_iteration->value()) || !credible(window.power->value())) {
    return std::nullopt;
  }
  return Measured{*window.time_per_iteration, *window.power};
}

std::optional<Measured> Trials::measure(std::size_t setting, std::string_view why) {
  if (cursor_ < log_.size()) return log_[cursor_++];
  wanted_ = setting;
  reason_ = why;
  return std::nullopt;
}

std::optional<Measured> Trials::measure(std::size_t setting, int windows, std::string_view why) {
  Measured sum;
  for (int i = 0; i < windows; ++i) {
    const std::optional<Measured> one = measure(setting, why);
    if (!one) return std::nullopt;
    sum.time += one->time;
    sum.power += one->power;
  }
  return Measured{sum.time / windows, sum.power / windows};
}

double TrialReference::score_as(Goal goal, const Measured& m) const {
  Objective objective = objective_;
  objective.goal = goal;
  return hypermile::score(objective, m.time / base_.time, m.power / base_.power, base_.power);
}

std::size_t best_within(const TrialReference& reference, std::span<const Trial> trials,
                        std::optional<double> limit) {
  std::size_t best = 0;
  double best_score = 1;
  for (const Trial& trial : trials) {
    const double score = reference.score(trial.measured);
    if (!reference.within(trial.measured, limit) || !(score < best_score)) continue;
    best = trial.setting;
    best_score = score;
  }
  return best;
}

}  // namespace hypermile
