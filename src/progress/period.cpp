// SPDX-License-Identifier: Apache-2.0
#include "progress/period.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace hypermile {
namespace {

constexpr std::size_t kMostPoints = 64;
constexpr std::size_t kParts = 8;  // of the window, for the standard error

struct Point {
  double iterations = 0;  // since the first boundary
  double seconds = 0;     // since the first boundary
};

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Median of the slopes of pairs at least a quarter of the window apart.
double theil_sen(std::span<const Point> points) {
  std::vector<double> slopes;
  slopes.reserve(points.size() * points.size() / 2);
  const double apart = (points.back().iterations - points.front().iterations) / 4;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      const double iterations = points[j].iterations - points[i].iterations;
      if (iterations <= 0 || iterations < apart) continue;
      slopes.push_back((points[j].seconds - points[i].seconds) / iterations);
    }
  }
  return slopes.empty() ? std::numeric_limits<double>::quiet_NaN() : median(slopes);
}

std::vector<Point> thinned(const std::vector<Point>& points) {
  if (points.size() <= kMostPoints) return points;
  std::vector<Point> few;
  for (std::size_t i = 0; i < kMostPoints; ++i) {
    few.push_back(points[i * (points.size() - 1) / (kMostPoints - 1)]);
  }
  return few;
}

// From the slopes of parts of the window. On host times this is too large, never too small: what
// one part borrows from the queue the next gives back.
double standard_error(const std::vector<Point>& points) {
  const std::size_t parts = std::min(kParts, points.size() - 1);
  double sum = 0;
  double squares = 0;
  for (std::size_t p = 0; p < parts; ++p) {
    const Point& from = points[p * (points.size() - 1) / parts];
    const Point& to = points[(p + 1) * (points.size() - 1) / parts];
    const double slope = (to.seconds - from.seconds) / (to.iterations - from.iterations);
    sum += slope;
    squares += slope * slope;
  }
  const double count = static_cast<double>(parts);
  const double variance = std::max(0.0, squares / count - (sum / count) * (sum / count));
  return std::sqrt(variance / std::max(1.0, count - 1));
}

double residual_spread(const std::vector<Point>& points, double slope) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const Point& point : points) {
    const double residual = point.seconds - slope * point.iterations;
    least = std::min(least, residual);
    most = std::max(most, residual);
  }
  return most - least;
}

Error refuse(std::string why) {
  return Error{ErrorCode::kNotReady, std::move(why), "measure over a longer window"};
}

// Host times lie while the host fills or drains its queue: then the window's halves disagree.
Result<void> check_host(const std::vector<Point>& points, double slope, const PeriodRules& rules) {
  const double span = points.back().seconds;
  const double spread = residual_spread(points, slope) / span;
  if (spread > rules.residual_spread) {
    return refuse(fmt::format("the host ran ahead by {:.0f} % of the window", 100 * spread));
  }
  const std::size_t half = points.size() / 2;
  const double first = theil_sen(std::span(points).first(half + 1));
  const double second = theil_sen(std::span(points).subspan(half));
  const double differ = std::abs(first - second) / slope;
  if (!(differ <= rules.halves_differ)) {
    return refuse(fmt::format("the halves of the window differ by {:.1f} %", 100 * differ));
  }
  return {};
}

}  // namespace

Result<Period> estimate_period(std::span<const Boundary> boundaries, const PeriodRules& rules) {
  const std::size_t least = std::max<std::size_t>(rules.least_boundaries, 4);
  if (boundaries.size() < least) {
    return refuse(fmt::format("{} boundaries, {} are needed", boundaries.size(), least));
  }
  const Boundary& first = boundaries.front();
  const bool gpu = std::ranges::all_of(
      boundaries, [](const Boundary& boundary) { return boundary.gpu_time.has_value(); });
  std::vector<Point> points;
  double iterations = 0;
  for (const Boundary& boundary : boundaries) {
    if (boundary.pattern != first.pattern) {
      return refuse("the window holds boundaries of different patterns");
    }
    if (!points.empty()) iterations += boundary.iterations;
    const Seconds since = gpu ? *boundary.gpu_time - *first.gpu_time : boundary.time - first.time;
    if (!points.empty() && iterations <= points.back().iterations) continue;
    points.push_back({iterations, since.value()});
  }
  if (points.size() < least) return refuse("the boundaries count too few iterations");
  const std::vector<Point> few = thinned(points);
  const double slope = theil_sen(few);
  if (!(slope > 0) || !std::isfinite(slope)) return refuse("time does not advance");
  if (!gpu) RETURN_IF_ERROR(check_host(few, slope, rules));
  return Period{.per_iteration = Seconds(slope),
                .standard_error = Seconds(standard_error(points)),
                .iterations = points.back().iterations,
                .span = Seconds(points.back().seconds),
                .gpu_time = gpu};
}

}  // namespace hypermile
