// SPDX-License-Identifier: Apache-2.0
#include "predict/new_card_errors.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace hypermile {
namespace {

constexpr double kCovered = 0.9;
constexpr double kLevelStep = 0.005;
constexpr double kFarthestLevel = 0.99;
constexpr double kLeastVariance = 1e-4;
// Leaves no family out: no family has this name.
constexpr std::string_view kNobody = "\n";

// One error, divided by the doubt.
struct Needed {
  double score = 0;
  double weight = 0;
  std::string_view family;
};

// The weighted quantile of `sorted`, without the family `without`.
double quantile(const std::vector<Needed>& sorted, double level, std::string_view without) {
  double all = 0;
  for (const Needed& one : sorted) all += one.family == without ? 0 : one.weight;
  double sum = 0;
  double last = 0;
  for (const Needed& one : sorted) {
    if (one.family == without) continue;
    sum += one.weight;
    last = one.score;
    if (sum >= level * all) break;
  }
  return last;
}

// The weighted share of rows that lie within the scale set by the other families at `level`.
double share_held(const std::vector<Needed>& sorted, const std::set<std::string_view>& families,
                  double level) {
  double held = 0;
  double all = 0;
  for (const std::string_view family : families) {
    const double scale = quantile(sorted, level, family);
    for (const Needed& one : sorted) {
      if (one.family != family) continue;
      all += one.weight;
      held += one.score <= scale ? one.weight : 0;
    }
  }
  return all > 0 ? held / all : 1;
}

double scale_of(std::vector<Needed> needed, double otherwise, std::size_t fewest) {
  std::set<std::string_view> families;
  for (const Needed& one : needed) families.insert(one.family);
  if (families.size() < fewest) return otherwise;
  std::ranges::sort(needed, {}, &Needed::score);
  double level = kCovered;
  while (level < kFarthestLevel && share_held(needed, families, level) < kCovered) {
    level += kLevelStep;
  }
  return quantile(needed, level, kNobody);
}

}  // namespace

void NewCardErrors::add(const Example& example, const std::string& unit, double distance,
                        std::span<const RawEstimate> estimates) {
  for (std::size_t i = 0; i < example.points.size(); ++i) {
    const MeasuredRatio& point = example.points[i];
    const RawEstimate& raw = estimates[i];
    if (!is_scored(kind_, point, raw)) continue;
    const double time = std::abs(raw.time - point.time);
    const double energy = std::abs(raw.energy - point.energy);
    units_[unit][example.group].push_back(
        {card_family(example.key.gpu), time / raw.time_doubt, energy / raw.energy_doubt, distance});
    time_sum_ += time;
    energy_sum_ += energy;
    ++rows_;
  }
}

std::vector<NewCardErrors::Row> NewCardErrors::weighted() const {
  std::vector<Row> rows;
  rows.reserve(rows_);
  for (const auto& unit : units_) {
    for (const auto& group : unit.second) {
      for (Row row : group.second) {
        row.weight =
            1 / static_cast<double>(group.second.size()) / static_cast<double>(unit.second.size());
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

BoundScales NewCardErrors::scales(const BoundScales& otherwise, std::size_t fewest) const {
  const std::vector<Row> rows = weighted();
  std::vector<Needed> time;
  std::vector<Needed> energy;
  for (const Row& row : rows) {
    time.push_back({row.time, row.weight, row.family});
    energy.push_back({row.energy, row.weight, row.family});
  }
  return {scale_of(std::move(time), otherwise.time, fewest),
          scale_of(std::move(energy), otherwise.energy, fewest)};
}

// The slope of a line through the scales that the cards needed at their distances; at least 0.
double NewCardErrors::slope(double Row::*score) const {
  std::vector<std::pair<double, double>> points;
  double mean_x = 0;
  double mean_y = 0;
  const auto n = static_cast<double>(units_.size());
  for (const auto& unit : units_) {
    std::vector<Needed> own;
    double distance = 0;
    for (const auto& group : unit.second) {
      const auto rows = static_cast<double>(group.second.size());
      for (const Row& row : group.second) {
        own.push_back({row.*score, 1 / rows, {}});
        distance += row.distance / rows / static_cast<double>(unit.second.size());
      }
    }
    std::ranges::sort(own, {}, &Needed::score);
    points.emplace_back(distance, quantile(own, kCovered, kNobody));
    mean_x += points.back().first / n;
    mean_y += points.back().second / n;
  }
  double variance = 0;
  double together = 0;
  for (const auto& [x, y] : points) {
    variance += (x - mean_x) * (x - mean_x) / n;
    together += (x - mean_x) * (y - mean_y) / n;
  }
  if (points.size() < kFewestFamilies || variance < kLeastVariance) return 0;
  return std::max(0.0, together / variance);
}

// The 90 % quantile of what the errors exceed `slope` × distance by.
double NewCardErrors::above(double Row::*score, double slope) const {
  std::vector<Needed> left;
  for (const Row& row : weighted()) {
    left.push_back({row.*score - slope * row.distance, row.weight, {}});
  }
  std::ranges::sort(left, {}, &Needed::score);
  return quantile(left, kCovered, kNobody);
}

BoundScales NewCardErrors::sloped_scales(const BoundScales& least) const {
  const double time = slope(&Row::time);
  const double energy = slope(&Row::energy);
  return {std::max(least.time, above(&Row::time, time)),
          std::max(least.energy, above(&Row::energy, energy)), time, energy};
}

Scores NewCardErrors::scores(const BoundScales& scales) const {
  if (rows_ == 0) return {};
  double held = 0;
  for (const Row& row : weighted()) {
    held += (row.time <= scales.time_at(row.distance) ? 1 : 0) +
            (row.energy <= scales.energy_at(row.distance) ? 1 : 0);
  }
  const auto n = static_cast<double>(rows_);
  return {rows_, time_sum_ / n, energy_sum_ / n, held / (2 * n)};
}

}  // namespace hypermile
