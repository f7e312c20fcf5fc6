// SPDX-License-Identifier: Apache-2.0
#include "progress/period.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "base/statistics.h"

namespace hypermile {
namespace {

Boundary at(double seconds) {
  Boundary boundary;
  boundary.time = Instant() + Seconds(seconds);
  return boundary;
}

// Simulates a host that launches an iteration in `host` seconds and waits for the GPU every `sync`
// iterations, or when it is `queue` iterations ahead.
std::vector<Boundary> run_ahead(double gpu, double host, int sync, int queue, double lasting) {
  std::vector<Boundary> boundaries;
  std::vector<double> done = {0};  // when the GPU finished each iteration
  double now = 0;
  for (int i = 0; now < lasting; ++i) {
    if (i >= queue) now = std::max(now, done[static_cast<std::size_t>(i - queue)]);
    if (sync > 0 && i % sync == 0) now = std::max(now, done.back());
    boundaries.push_back(at(now));
    now += host;
    done.push_back(std::max(done.back(), now) + gpu);
  }
  return boundaries;
}

TEST(Period, IsTheSlopeOfEvenBoundaries) {
  std::vector<Boundary> boundaries;
  for (int i = 0; i < 20; ++i) boundaries.push_back(at(3 + 0.05 * i));

  const auto period = estimate_period(boundaries);

  ASSERT_TRUE(period.ok());
  EXPECT_NEAR(period->per_iteration.value(), 0.05, 1e-9);
  EXPECT_NEAR(period->iterations, 19, 1e-9);
  EXPECT_FALSE(period->gpu_time);
}

TEST(Period, CountsIterationsWhoseAnchorsWereMissed) {
  std::vector<Boundary> boundaries;
  for (int i = 0; i < 20; ++i) {
    if (i == 7) continue;
    boundaries.push_back(at(0.05 * i));
    boundaries.back().iterations = i == 8 ? 2 : 1;
  }

  EXPECT_NEAR(estimate_period(boundaries)->per_iteration.value(), 0.05, 1e-9);
}

TEST(Period, UsesGpuTimeIfEveryBoundaryHasIt) {
  std::vector<Boundary> boundaries;
  for (int i = 0; i < 10; ++i) {
    boundaries.push_back(at(0.001 * i));  // a host far ahead of the GPU
    boundaries.back().gpu_time = Seconds(100 + 0.2 * i);
  }

  const auto period = estimate_period(boundaries);

  ASSERT_TRUE(period.ok());
  EXPECT_TRUE(period->gpu_time);
  EXPECT_NEAR(period->per_iteration.value(), 0.2, 1e-9);
}

TEST(Period, RefusesFewBoundariesMixedPatternsAndTimeThatDoesNotAdvance) {
  std::vector<Boundary> few = {at(0), at(1), at(2)};
  std::vector<Boundary> mixed = {at(0), at(1), at(2), at(3), at(4)};
  mixed[2].pattern.phase = 1;
  const std::vector<Boundary> standing(10, at(1));

  EXPECT_EQ(estimate_period(few).error().code, ErrorCode::kNotReady);
  EXPECT_EQ(estimate_period(mixed).error().code, ErrorCode::kNotReady);
  EXPECT_EQ(estimate_period(standing).error().code, ErrorCode::kNotReady);
  EXPECT_EQ(estimate_period({}).error().code, ErrorCode::kNotReady);
}

TEST(Period, IsRightOrRefusedWhenTheHostRunsAhead) {
  struct Case {
    double gpu, host;
    int sync, queue;
  };
  // The jobs have 23, 914, 300, 100 and 100 launches per iteration; the queue holds 1024 launches.
  const std::vector<Case> cases = {{0.0013, 0.0002, 50, 44}, {0.054, 0.009, 20, 1},
                                   {0.054, 0.003, 10, 3},    {0.1, 0.001, 5, 10},
                                   {0.1, 0.001, 10, 10},     {0.0026, 0.0005, 50, 1024}};
  int answered = 0;
  for (const Case& each : cases) {
    for (const double lasting : {0.5, 1.0, 2.0, 8.0}) {
      const auto boundaries = run_ahead(each.gpu, each.host, each.sync, each.queue, lasting);

      const auto period = estimate_period(boundaries);

      if (!period) continue;
      ++answered;
      EXPECT_NEAR(period->per_iteration.value() / each.gpu, 1, lasting < 2 ? 0.05 : 0.01)
          << each.gpu << " s, sync every " << each.sync << ", " << lasting << " s";
    }
  }
  EXPECT_GE(answered, 12);
}

TEST(Period, StandardErrorCoversTheTruthOnGpuTimes) {
  Random random(1);
  int covered = 0;
  constexpr int kTimes = 400;
  for (int t = 0; t < kTimes; ++t) {
    std::vector<Boundary> boundaries;
    double now = 0;
    for (int i = 0; i < 100; ++i) {
      boundaries.push_back(at(0));
      boundaries.back().gpu_time = Seconds(now);
      now += 0.02 * (1 + 0.02 * random.gaussian());
    }

    const auto period = estimate_period(boundaries);

    ASSERT_TRUE(period.ok());
    const double off = std::abs(period->per_iteration.value() - 0.02);
    // The error comes from eight parts of the window, so it has seven degrees of freedom.
    if (off < student_half_width95(7) * period->standard_error.value()) ++covered;
  }
  EXPECT_GE(covered, 0.90 * kTimes);
}

}  // namespace
}  // namespace hypermile
