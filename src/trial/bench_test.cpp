// SPDX-License-Identifier: Apache-2.0
#include "trial/bench.h"

#include <gtest/gtest.h>

#include "testing/simulated_job.h"

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
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(bench.measure({}, wanting(80)).ok());  // warm

  const auto window = bench.measure({}, wanting(20));

  ASSERT_TRUE(window.ok() && *window);
  EXPECT_TRUE((*window)->usable()) << (*window)->unusable;
  const double checkpoints = 3.0 / 97;  // the truth counts them in, a Window begins behind them
  EXPECT_NEAR((*window)->time_per_iteration->value(),
              truth.default_point().time.value() - checkpoints,
              0.01 * truth.default_point().time.value());
  EXPECT_GT((*window)->power->value(), 200);
}

TEST(Bench, KeepsPausesOutOfWindows) {
  const SimulatedJob job = job_for_test(2000);
  Bench bench(job);
  ASSERT_TRUE(bench.start().ok());
  ASSERT_TRUE(bench.watch().ok());

  for (int i = 0; i < 20; ++i) {
    const auto window = bench.measure({}, wanting(60));

    ASSERT_TRUE(window.ok() && *window);
    EXPECT_LT((*window)->time_per_iteration->value(), 0.13) << "a checkpoint of 3 s is in it";
    EXPECT_GT((*window)->power->value(), 250) << "power of a waiting GPU is in it";
    EXPECT_GE((*window)->iterations, 15);
  }
}

TEST(Bench, EndsAWindowBeforeAPauseWhereItCannotGetAllItWants) {
  const SimulatedJob job = job_for_test(3000);
  Bench bench(job);
  ASSERT_TRUE(bench.start().ok());
  ASSERT_TRUE(bench.watch().ok());

  const auto window = bench.measure({}, wanting(500));

  ASSERT_TRUE(window.ok() && *window);
  EXPECT_NEAR((*window)->iterations, 96, 1);
}

TEST(Bench, CountsPausesThatComeAllTheTimeAsPartOfTheJob) {
  SimulatedJob job = job_for_test(3000);
  job.workload.load.phases[1].every = 4;
  job.workload.load.phases[1].parts[0].data_stall = Seconds(0.6);
  Bench bench(job);
  ASSERT_TRUE(bench.start().ok());
  ASSERT_TRUE(bench.watch().ok());
  ASSERT_TRUE(bench.measure({}, wanting(10)).ok());

  const auto window = bench.measure({}, wanting(40));

  ASSERT_TRUE(window.ok() && *window);
  EXPECT_EQ((*window)->iterations, 40);
  EXPECT_GT((*window)->duration.value(), 9 * 0.6);
}

TEST(Bench, TakesPausesTheSameWayAtEveryClock) {
  for (const std::uint64_t every : {11U, 12U, 13U, 14U, 15U, 16U}) {  // near a third of a Window
    SimulatedJob job = job_for_test(6000);
    job.workload.load.phases[1].every = every;
    Bench bench(job);
    ASSERT_TRUE(bench.start().ok());
    ASSERT_TRUE(bench.watch().ok());
    ASSERT_TRUE(bench.measure({}, wanting(100)).ok());
    const auto fast = bench.measure({}, wanting(200));
    ASSERT_TRUE(bench.change_to({.sm_clock = Mhz(900)}).ok());
    const auto slow = bench.measure({.sm_clock = Mhz(900)}, wanting(200));

    ASSERT_TRUE(fast.ok() && *fast && slow.ok() && *slow);
    EXPECT_GT(*(*slow)->time_per_iteration, *(*fast)->time_per_iteration) << every;
  }
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
