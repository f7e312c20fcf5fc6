// SPDX-License-Identifier: Apache-2.0
#include "measure/slope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "base/random.h"

namespace hypermile {
namespace {

using Process = std::function<std::vector<double>(Random& random, int count)>;

std::vector<SlopePoint> points_of(const std::vector<double>& steps, double jitter, Random& random) {
  std::vector<SlopePoint> points = {{0, jitter * random.gaussian()}};
  double y = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    y += steps[i];
    points.push_back({static_cast<double>(i + 1), y + jitter * random.gaussian()});
  }
  return points;
}

// Share of the 95 % intervals that contain the true slope of 1.
double coverage(const Process& process, int count, double jitter = 0) {
  constexpr int kRuns = 1000;
  int holding = 0;
  for (int run = 0; run < kRuns; ++run) {
    Random random(derive_seed(static_cast<std::uint64_t>(run), "coverage"));
    const auto slope = estimate_slope(points_of(process(random, count), jitter, random));
    holding += std::abs(slope->value - 1) <= 1.96 * *slope->error * slope->value;
  }
  return static_cast<double>(holding) / kRuns;
}

std::vector<double> independent(Random& random, int count) {
  std::vector<double> steps;
  for (int i = 0; i < count; ++i) steps.push_back(1 + 0.05 * random.gaussian());
  return steps;
}

Process alike(double likeness) {
  return [likeness](Random& random, int count) {
    std::vector<double> steps;
    double state = random.gaussian();
    for (int i = 0; i < count; ++i) {
      steps.push_back(1 + 0.05 * state);
      state = likeness * state + std::sqrt(1 - likeness * likeness) * random.gaussian();
    }
    return steps;
  };
}

Process two_levels(double mean_stay) {
  return [mean_stay](Random& random, int count) {
    std::vector<double> steps;
    bool slow = random.uniform() < 0.5;
    for (int i = 0; i < count; ++i) {
      steps.push_back((slow ? 1.03 : 0.97) + 0.005 * random.gaussian());
      if (random.uniform() < 1 / mean_stay) slow = !slow;
    }
    return steps;
  };
}

TEST(Slope, OfAStraightLineIsExact) {
  std::vector<SlopePoint> points;
  for (int i = 0; i < 2000; ++i) points.push_back({i * 1.0, 7 + i * 0.054});

  const auto slope = estimate_slope(points);

  ASSERT_TRUE(slope && slope->error);
  EXPECT_NEAR(slope->value, 0.054, 1e-12);
  EXPECT_LT(*slope->error, 1e-9);
}

TEST(Slope, SaysNothingOfTooFewPointsOrWithoutGrowth) {
  EXPECT_FALSE(estimate_slope({}));
  EXPECT_FALSE(estimate_slope(std::vector<SlopePoint>{{1, 1}}));
  EXPECT_FALSE(estimate_slope(std::vector<SlopePoint>{{1, 1}, {1, 2}, {1, 3}}));
  EXPECT_FALSE(estimate_slope(std::vector<SlopePoint>{{1, 5}, {2, 5}, {3, 5}, {4, 5}, {5, 5}}));
  EXPECT_FALSE(estimate_slope(std::vector<SlopePoint>{{1, 1}, {2, 2}})->error);
}

TEST(Slope, IntervalsHoldForIndependentSteps) {
  for (const int count : {4, 8, 16, 40, 80, 400}) {
    EXPECT_NEAR(coverage(independent, count), 0.95, 0.022) << count;
  }
}

TEST(Slope, IntervalsHoldWhereNeighboursResembleEachOther) {
  EXPECT_NEAR(coverage(alike(0.5), 400), 0.95, 0.025);
  EXPECT_NEAR(coverage(alike(0.9), 2000), 0.95, 0.03);
  EXPECT_NEAR(coverage(two_levels(40), 4000), 0.95, 0.03);
}

TEST(Slope, IntervalsHoldWhereSinglePointsAreOff) {
  EXPECT_NEAR(coverage(independent, 400, 0.5), 0.95, 0.025);
  EXPECT_NEAR(coverage(independent, 400, 3), 0.95, 0.03);
}

TEST(Slope, AveragesEndsWhereSinglePointsAreOff) {
  double squares = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const auto slope = estimate_slope(points_of(std::vector<double>(300, 1.0), 2, random));
    squares += (slope->value - 1) * (slope->value - 1);
  }

  // The first and the last point alone would be off by 2 √2 / 300 = 0.94 %.
  EXPECT_LT(std::sqrt(squares / 200), 0.0035);
}

}  // namespace
}  // namespace hypermile
