// SPDX-License-Identifier: Apache-2.0
#include "predict/calibration.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr double kCovered = 0.9;

}  // namespace

void Residuals::add(const Example& example, std::span<const RawEstimate> estimates) {
  for (std::size_t i = 0; i < example.points.size(); ++i) {
    const MeasuredRatio& point = example.points[i];
    const RawEstimate& raw = estimates[i];
    if (!is_scored(kind_, point, raw)) continue;
    const double time = std::abs(raw.time - point.time);
    const double energy = std::abs(raw.energy - point.energy);
    time_[example.group].push_back(time / raw.time_doubt);
    energy_[example.group].push_back(energy / raw.energy_doubt);
    time_sum_ += time;
    energy_sum_ += energy;
    ++rows_;
  }
}

Scores Residuals::scores(double time_scale, double energy_scale) const {
  if (rows_ == 0) return {};
  const auto n = static_cast<double>(rows_);
  const auto held = [](const Groups& groups, double scale) {
    double count = 0;
    for (const auto& group : groups) {
      count += static_cast<double>(
          std::ranges::count_if(group.second, [&](double score) { return score <= scale; }));
    }
    return count;
  };
  return {rows_, time_sum_ / n, energy_sum_ / n,
          (held(time_, time_scale) + held(energy_, energy_scale)) / (2 * n)};
}

double Residuals::quantile(const Groups& groups) {
  std::vector<std::pair<double, double>> scores;  // score and weight
  for (const auto& group : groups) {
    for (const double score : group.second) {
      scores.emplace_back(score, 1 / static_cast<double>(group.second.size()));
    }
  }
  if (scores.empty()) return 1;
  std::ranges::sort(scores);
  const auto n = static_cast<double>(groups.size());
  const double wanted = std::min(n, kCovered * (n + 1));
  double sum = 0;
  for (const auto& score : scores) {
    sum += score.second;
    if (sum >= wanted) return score.first;
  }
  return scores.back().first;
}

}  // namespace hypermile
