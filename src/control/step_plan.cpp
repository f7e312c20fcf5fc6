// SPDX-License-Identifier: Apache-2.0
#include "control/step_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace hypermile {
namespace {

constexpr double kShortestSeconds = 2.5;  // twenty-five refreshes of the energy counter
constexpr double kLongestSeconds = 30;    // however much iterations scatter
constexpr double kWantedError = 0.005;    // of the mean over one Window
constexpr double kFewestIterations = 4;   // however long they are

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation_of(std::span<const double> values, double mean) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return values.size() > 1 ? std::sqrt(squares / static_cast<double>(values.size() - 1)) : 0;
}

// No batch is so short that it costs less than this share of a mean one.
constexpr double kLeastWeight = 0.1;

}  // namespace

double IterationSizes::weigh(double iterations, std::optional<double> blocks) const {
  if (!(usual > 0) || !blocks || !(iterations > 0)) return iterations;
  return iterations * std::max(kLeastWeight, 1 + share * (*blocks / iterations / usual - 1));
}

StepPlan plan_steps(Seconds typical, double scatter) {
  const double wanted_s = typical.value() * std::pow(scatter / kWantedError, 2);
  const double window_s = std::clamp(wanted_s, kShortestSeconds, kLongestSeconds);
  // Whole numbers must not hang on the last bit of an instant.
  const auto whole = [](double x) { return std::ceil(x - 1e-6); };
  return {typical, std::max(kFewestIterations, whole(window_s / typical.value())),
          1 + whole(kSettle / typical), 0, false};
}

StepPlan plan_steps(std::span<const double> intervals_s) {
  std::vector<double> sorted(intervals_s.begin(), intervals_s.end());
  std::ranges::sort(sorted);
  const double median = sorted[sorted.size() / 2];
  // Scatter of ordinary iterations: an evaluation between two ticks is not one of them.
  const auto ordinary = std::ranges::upper_bound(sorted, 4 * median);
  const std::span<const double> body(sorted.begin(), ordinary);
  return plan_steps(Seconds(median), deviation_of(body, mean_of(body)) / median);
}

}  // namespace hypermile
