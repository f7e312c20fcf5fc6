// SPDX-License-Identifier: Apache-2.0
#include "predict/new_card_errors.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr double kCovered = 0.9;
// With fewer cards a slope would be a guess.
constexpr std::size_t kFewestCards = 4;
constexpr double kLeastVariance = 1e-4;

}  // namespace

void NewCardErrors::add(const Example& example, double distance,
                        std::span<const RawEstimate> estimates) {
  for (std::size_t i = 0; i < example.points.size(); ++i) {
    const MeasuredRatio& point = example.points[i];
    const RawEstimate& raw = estimates[i];
    if (!is_scored(kind_, point, raw)) continue;
    const double time = std::abs(raw.time - point.time);
    const double energy = std::abs(raw.energy - point.energy);
    cards_[example.key.gpu][example.group].push_back(
        {distance, time / raw.time_doubt, energy / raw.energy_doubt});
    time_sum_ += time;
    energy_sum_ += energy;
    ++rows_;
  }
}

double NewCardErrors::quantile(std::vector<std::pair<double, double>> values, double share) {
  std::ranges::sort(values);
  double all = 0;
  for (const auto& value : values) all += value.second;
  double sum = 0;
  for (const auto& value : values) {
    sum += value.second;
    if (sum >= share * all) return value.first;
  }
  return values.empty() ? 0 : values.back().first;
}

// Of a line through what each card needed at its distance.
double NewCardErrors::slope(double Row::*score) const {
  std::vector<std::pair<double, double>> needed;
  double mean_x = 0;
  double mean_y = 0;
  const auto n = static_cast<double>(cards_.size());
  for (const auto& card : cards_) {
    std::vector<std::pair<double, double>> own;
    double distance = 0;
    for (const auto& group : card.second) {
      const double weight = 1 / static_cast<double>(group.second.size());
      for (const Row& row : group.second) {
        own.emplace_back(row.*score, weight);
        distance += weight * row.distance / static_cast<double>(card.second.size());
      }
    }
    needed.emplace_back(distance, quantile(std::move(own), kCovered));
    mean_x += needed.back().first / n;
    mean_y += needed.back().second / n;
  }
  double variance = 0;
  double together = 0;
  for (const auto& [x, y] : needed) {
    variance += (x - mean_x) * (x - mean_x) / n;
    together += (x - mean_x) * (y - mean_y) / n;
  }
  if (needed.size() < kFewestCards || variance < kLeastVariance) return 0;
  return std::max(0.0, together / variance);
}

DistanceScale NewCardErrors::fit(double Row::*score, double least) const {
  DistanceScale scale{least, slope(score)};
  std::vector<std::pair<double, double>> left;  // beyond what the distance explains
  for (const auto& card : cards_) {
    for (const auto& group : card.second) {
      const double weight =
          1 / static_cast<double>(group.second.size()) / static_cast<double>(card.second.size());
      for (const Row& row : group.second) {
        left.emplace_back(row.*score - scale.slope * row.distance, weight);
      }
    }
  }
  scale.base = std::max(least, quantile(std::move(left), kCovered));
  return scale;
}

Scores NewCardErrors::scores(const DistanceScale& time, const DistanceScale& energy) const {
  if (rows_ == 0) return {};
  double held = 0;
  for (const auto& card : cards_) {
    for (const auto& group : card.second) {
      for (const Row& row : group.second) {
        held += (row.time <= time.at(row.distance) ? 1 : 0) +
                (row.energy <= energy.at(row.distance) ? 1 : 0);
      }
    }
  }
  const auto n = static_cast<double>(rows_);
  return {rows_, time_sum_ / n, energy_sum_ / n, held / (2 * n)};
}

}  // namespace hypermile
