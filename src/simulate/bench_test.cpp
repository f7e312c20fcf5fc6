// SPDX-License-Identifier: Apache-2.0
#include "simulate/bench.h"

#include <gtest/gtest.h>

#include "simulate/simulated_job_for_test.h"

namespace hypermile {
namespace {

Step wanting(double iterations) {
  Step step;
  step.iterations = iterations;
  return step;
}

TEST(Bench, MeasuresWhatTheSimulatorKnowsToBeTrue) {
  const SimulatedJob job = job_for_test(2000);
  const Curve truth = truth_of(job);
  Bench bench(job);
  ASSERT_TRUE(bench.start().ok());
  ASSERT_TRUE(bench.watch().ok());
  ASSERT_TRUE(bench.measure({}, wanting(600)).ok());  // warm

  const auto window = bench.measure({}, wanting(80));

  ASSERT_TRUE(window.ok() && *window);
  EXPECT_TRUE((*window)->usable()) << (*window)->unusable;
  EXPECT_EQ((*window)->iterations, 80);
  const double checkpoints = 3.0 / 97;  // the truth counts them in, a Window begins behind them
  EXPECT_NEAR((*window)->time_per_iteration->value(),
              truth.default_point().time.value() - checkpoints,
              0.01 * truth.default_point().time.value());
}

TEST(Bench, BeginsAWindowAnewBehindAPause) {
  const SimulatedJob job = job_for_test(2000);
  Bench bench(job);
  ASSERT_TRUE(bench.start().ok());
  ASSERT_TRUE(bench.watch().ok());

  for (int i = 0; i < 8; ++i) {
    const auto window = bench.measure({}, wanting(60));

    ASSERT_TRUE(window.ok() && *window);
    EXPECT_LT((*window)->duration.value(), 60 * 0.2) << "a checkpoint of 3 s is in it";
  }
}

TEST(Bench, LetsWindowsRunThroughPausesThatLeaveNoRoomBetweenThem) {
  const SimulatedJob job = job_for_test(3000);
  Bench bench(job);
  ASSERT_TRUE(bench.start().ok());
  ASSERT_TRUE(bench.watch().ok());

  const auto window = bench.measure({}, wanting(500));

  ASSERT_TRUE(window.ok() && *window);
  EXPECT_EQ((*window)->iterations, 500);
  EXPECT_GT((*window)->duration.value(), 5 * 3) << "five checkpoints are in it";
}

TEST(Bench, CutsAWindowShortThatIsPlainlyTooSlow) {
  const SimulatedJob job = job_for_test(500);
  Bench bench(job);
  ASSERT_TRUE(bench.start().ok());
  ASSERT_TRUE(bench.watch().ok());
  Step step = wanting(50);
  step.abort_above = milliseconds(1);
  step.abort_after = 5;

  const auto window = bench.measure({}, step);

  ASSERT_TRUE(window.ok() && *window);
  EXPECT_TRUE((*window)->aborted);
  EXPECT_EQ((*window)->iterations, 5);
}

TEST(Bench, SlowsDownWithTheClock) {
  const SimulatedJob job = job_for_test(2000);
  Bench bench(job);
  ASSERT_TRUE(bench.start().ok());
  ASSERT_TRUE(bench.watch().ok());
  const auto before = bench.measure({}, wanting(40));

  ASSERT_TRUE(bench.change_to({.sm_clock = Mhz(900)}).ok());
  const auto after = bench.measure({.sm_clock = Mhz(900)}, wanting(40));

  ASSERT_TRUE(before.ok() && *before && after.ok() && *after);
  EXPECT_GT(*(*after)->time_per_iteration / *(*before)->time_per_iteration, 1.1);
  EXPECT_NEAR((*after)->sm_clock->value(), 900, 1);
}

TEST(Bench, SaysWhenAJobIsTooShortToMeasure) {
  const SimulatedJob job = job_for_test(1);
  Bench bench(job);
  ASSERT_TRUE(bench.start().ok());

  const auto plan = bench.watch();

  EXPECT_EQ(plan.error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace hypermile
