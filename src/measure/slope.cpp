// SPDX-License-Identifier: Apache-2.0
#include "measure/slope.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/statistics.h"

namespace hypermile {
namespace {

constexpr std::size_t kMostPoints = 513;  // more are thinned out evenly, keeping both ends
// number of long stretches in a Window if neighbours are not alike
constexpr double kStretches = 16;
constexpr double kFewestStretches = 6;
// Length of a long stretch in units of the likeness of neighbours.
constexpr double kPastResemblance = 3;
constexpr double kOverlapGain = 1.5;  // overlapping stretches are worth 1.5 × as many separate ones
// With at least this many steps, errors of single points can be separated from variable growth.
// With fewer, all scatter counts as growth, which errs on the safe side.
constexpr double kManySteps = 100;

std::vector<SlopePoint> thinned(std::span<const SlopePoint> points) {
  std::vector<SlopePoint> rising;
  for (const SlopePoint& point : points) {
    if (rising.empty() || point.x > rising.back().x) rising.push_back(point);
  }
  if (rising.size() <= kMostPoints) return rising;
  std::vector<SlopePoint> kept;
  const double step = static_cast<double>(rising.size() - 1) / (kMostPoints - 1);
  for (std::size_t i = 0; i < kMostPoints; ++i) {
    kept.push_back(rising[static_cast<std::size_t>(std::lround(static_cast<double>(i) * step))]);
  }
  return kept;
}

// Differences of the points from the straight line between the first and the last.
class Residuals {
 public:
  explicit Residuals(std::span<const SlopePoint> points) : points_(points) {
    const SlopePoint& first = points.front();
    const double slope = (points.back().y - first.y) / (points.back().x - first.x);
    for (const SlopePoint& p : points) left_.push_back(p.y - first.y - slope * (p.x - first.x));
  }

  std::size_t steps() const { return left_.size() - 1; }

  // Mean square of the change over `lag` steps. The line through both ends hides part of the
  // growth's variance. The correction for it is applied to the whole, which errs on the safe side
  // where single points are off.
  double square(std::size_t lag) const {
    double sum = 0;
    for (std::size_t i = lag; i < left_.size(); ++i) {
      const double change = left_[i] - left_[i - lag];
      sum += change * change;
    }
    const double hidden = static_cast<double>(lag) / static_cast<double>(steps());
    return sum / static_cast<double>(left_.size() - lag) / std::max(0.1, 1 - hidden);
  }
  double mean_span(std::size_t lag) const {
    double sum = 0;
    for (std::size_t i = lag; i < left_.size(); ++i) sum += points_[i].x - points_[i - lag].x;
    return sum / static_cast<double>(left_.size() - lag);
  }

  // Number of steps over which changes stay alike: up to the first pair of neighbouring
  // autocorrelations below their noise.
  double resemblance() const {
    const double noise = 2 * std::sqrt(2.0 / static_cast<double>(steps())) * covariance(0);
    std::size_t lag = 1;
    while (lag + 1 < steps() / 4 && covariance(lag) + covariance(lag + 1) > noise) lag += 2;
    return static_cast<double>(lag - 1);
  }

 private:
  double covariance(std::size_t lag) const {
    double sum = 0;
    for (std::size_t i = lag + 1; i < left_.size(); ++i) {
      sum += (left_[i] - left_[i - 1]) * (left_[i - lag] - left_[i - lag - 1]);
    }
    return sum / static_cast<double>(steps());
  }

  std::span<const SlopePoint> points_;
  std::vector<double> left_;
};

// Variance that grows with x, and variance of each single point.
struct Scatter {
  double growing = 0;  // per unit of x
  double single = 0;
  double freedom = 1;  // number of independent stretches that the estimate rests on
};

Scatter scatter_of(const Residuals& residuals) {
  const auto steps = static_cast<double>(residuals.steps());
  const double longest = std::max(1.0, steps / kFewestStretches);
  const double stretches = steps < kManySteps ? kStretches / 2 : kStretches;
  const double wanted = std::max(steps / stretches, kPastResemblance * residuals.resemblance());
  const auto lag = static_cast<std::size_t>(std::max(1.0, std::floor(std::min(wanted, longest))));
  Scatter scatter;
  const double far = residuals.square(lag);
  const double overlap = lag > 1 ? kOverlapGain : 1;
  scatter.freedom = std::max(1.0, overlap * (steps / static_cast<double>(lag) - 1));
  if (steps < kManySteps) {
    scatter.growing = far / residuals.mean_span(lag);
    return scatter;
  }
  const double near = residuals.square(1);
  const double near_span = residuals.mean_span(1);
  const double far_span = residuals.mean_span(lag);
  scatter.growing = std::max(0.0, (far - near) / (far_span - near_span));
  scatter.single = std::max(0.0, (near - scatter.growing * near_span) / 2);
  if (scatter.single == 0) scatter.growing = far / far_span;
  return scatter;
}

// The slope between the mean of the first `ends` points and the mean of the last `ends`. A few
// points at each end average out errors of single points; many points shorten the span.
struct EndSlope {
  double slope = 0;
  double variance = 0;
};

EndSlope slope_between_ends(std::span<const SlopePoint> points, std::size_t ends,
                            const Scatter& scatter) {
  SlopePoint first;
  SlopePoint last;
  const auto count = static_cast<double>(ends);
  for (std::size_t i = 0; i < ends; ++i) {
    first.x += points[i].x / count;
    first.y += points[i].y / count;
    last.x += points[points.size() - 1 - i].x / count;
    last.y += points[points.size() - 1 - i].y / count;
  }
  const double span = last.x - first.x;
  const double each = (points.back().x - points.front().x) / static_cast<double>(points.size() - 1);
  const double grown = span - each * (count - 1 / count) / 3;
  return {(last.y - first.y) / span,
          (scatter.growing * grown + 2 * scatter.single / count) / (span * span)};
}

// Ratio of Student's t to the normal quantile for a 95 % interval.
double widening(double freedom) {
  return student_half_width95(freedom) / normal_half_width95();
}

}  // namespace

std::optional<Slope> estimate_slope(std::span<const SlopePoint> all) {
  const std::vector<SlopePoint> points = thinned(all);
  if (points.size() < 2) return std::nullopt;
  if (points.size() < 4) {
    const EndSlope ends = slope_between_ends(points, 1, {});
    return ends.slope > 0 ? std::optional(Slope{ends.slope, std::nullopt}) : std::nullopt;
  }
  const Scatter scatter = scatter_of(Residuals(points));
  EndSlope best = slope_between_ends(points, 1, scatter);
  for (std::size_t ends = 2; ends <= points.size() / 3 && scatter.single > 0; ends *= 2) {
    const EndSlope candidate = slope_between_ends(points, ends, scatter);
    if (candidate.variance < best.variance) best = candidate;
  }
  if (!(best.slope > 0)) return std::nullopt;
  return Slope{best.slope, std::sqrt(best.variance) / best.slope * widening(scatter.freedom)};
}

}  // namespace hypermile
