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
constexpr std::size_t kLeastWaits = 5;
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

// The median slope of pairs at least a quarter of the window apart.
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

// The standard error from the slopes of parts of the window. On host times it is too large, never
// too small: what one part gains from the queue, the next gives back.
double standard_error(const std::vector<Point>& points) {
  const std::size_t parts = std::min(kParts, points.size() - 1);
  double sum = 0;
  double squares = 0;
  for (std::size_t p = 0; p < parts; ++p) {
    const std::size_t from = p * (points.size() - 1) / parts;
    const std::size_t to = (p + 1) * (points.size() - 1) / parts;
    const double slope = theil_sen(thinned({points.begin() + static_cast<std::ptrdiff_t>(from),
                                            points.begin() + static_cast<std::ptrdiff_t>(to) + 1}));
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

double mean_interval(const std::vector<Point>& points) {
  return (points.back().seconds - points.front().seconds) /
         (points.back().iterations - points.front().iterations);
}

double interval(const std::vector<Point>& points, std::size_t i) {
  return (points[i].seconds - points[i - 1].seconds) /
         (points[i].iterations - points[i - 1].iterations);
}

// The share of iterations that the host launched at twice the usual speed, running ahead.
double ahead(const std::vector<Point>& points) {
  const double mean = mean_interval(points);
  std::size_t fast = 0;
  for (std::size_t i = 1; i < points.size(); ++i) fast += interval(points, i) < mean / 2 ? 1 : 0;
  return static_cast<double>(fast) / static_cast<double>(points.size() - 1);
}

// The boundaries right after the host waited for the GPU, where both are at the same place.
std::vector<Point> after_waits(const std::vector<Point>& points) {
  const double mean = mean_interval(points);
  std::vector<Point> waited;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (interval(points, i) > 2 * mean) waited.push_back(points[i]);
  }
  return waited;
}

Result<void> check_spread(const std::vector<Point>& points, const PeriodRules& rules) {
  const double slope = theil_sen(points);
  const double span = points.back().seconds - points.front().seconds;
  const double spread = residual_spread(points, slope) / span;
  if (spread > rules.residual_spread) {
    return refuse(fmt::format("the host ran ahead by {:.0f} % of the window", 100 * spread));
  }
  return {};
}

Result<void> check_halves(const std::vector<Point>& points, const PeriodRules& rules) {
  const std::size_t half = points.size() / 2;
  const double first = theil_sen(std::span(points).first(half + 1));
  const double second = theil_sen(std::span(points).subspan(half));
  const double differ = std::abs(first - second) / theil_sen(points);
  if (!(differ <= rules.halves_differ)) {
    return refuse(fmt::format("the halves of the window differ by {:.1f} %", 100 * differ));
  }
  return {};
}

Result<std::vector<Point>> make_points(std::span<const Boundary> boundaries, bool gpu) {
  const Boundary& first = boundaries.front();
  std::vector<Point> points;
  double iterations = 0;
  for (const Boundary& boundary : boundaries) {
    if (boundary.pattern != first.pattern) {
      return refuse("the window holds boundaries of different patterns");
    }
    if (!points.empty()) iterations += boundary.iterations;
    const Seconds since = gpu ? *boundary.gpu_time - *first.gpu_time : boundary.time - first.time;
    if (!points.empty() && !(iterations > points.back().iterations)) continue;
    points.push_back({iterations, since.value()});
  }
  return points;
}

// The points at which host times are right: all while the host keeps pace, those after waits if it
// runs far ahead. Refuses if there are too few of those.
Result<std::vector<Point>> trusted(std::vector<Point> points, const PeriodRules& rules) {
  const double share = ahead(points);
  if (share < rules.keeps_pace) return points;
  const bool far = share >= rules.far_ahead;
  if (far) points = after_waits(points);
  if (points.size() < kLeastWaits) {
    return refuse("the host runs far ahead of the GPU and waited for it too rarely");
  }
  const std::vector<Point> few = thinned(points);
  RETURN_IF_ERROR(check_spread(few, rules));
  // After waits, a difference between the halves means that the job changed its pace, not that the
  // host ran ahead.
  if (!far) RETURN_IF_ERROR(check_halves(few, rules));
  return points;
}

}  // namespace

Result<Period> estimate_period(std::span<const Boundary> boundaries, const PeriodRules& rules) {
  const std::size_t least = std::max<std::size_t>(rules.least_boundaries, 4);
  if (boundaries.size() < least) {
    return refuse(fmt::format("only {} iteration boundaries were seen, {} are needed",
                              boundaries.size(), least));
  }
  const bool gpu = std::ranges::all_of(
      boundaries, [](const Boundary& boundary) { return boundary.gpu_time.has_value(); });
  ASSIGN_OR_RETURN(std::vector<Point> points, make_points(boundaries, gpu));
  if (points.size() < least) return refuse("the window holds too few iterations");
  if (!(mean_interval(points) > 0)) return refuse("time does not advance");
  if (!gpu) {
    ASSIGN_OR_RETURN(points, trusted(std::move(points), rules));
  }
  const double slope = theil_sen(thinned(points));
  if (!(slope > 0) || !std::isfinite(slope)) return refuse("time does not advance");
  return Period{.per_iteration = Seconds(slope),
                .standard_error = Seconds(standard_error(points)),
                .iterations = points.back().iterations - points.front().iterations,
                .span = Seconds(points.back().seconds - points.front().seconds),
                .gpu_time = gpu};
}

}  // namespace hypermile
