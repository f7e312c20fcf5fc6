// SPDX-License-Identifier: Apache-2.0
#include "control/phase_watch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace hypermile {
namespace {

// Micro-batches that the host launches as fast as it can, `each` in a row; then it waits for the
// GPU until `step` has passed since the first.
PhaseWatch host_that_runs_ahead(int each, Seconds step, int steps) {
  PhaseWatch watch;
  for (int i = 0; i < each * steps; ++i) {
    Boundary boundary;
    boundary.time = Instant::from_nanoseconds(0) + step * (i / each) + milliseconds(4) * (i % each);
    boundary.iterations = i == 0 ? 0 : 1;
    watch.add(boundary);
  }
  return watch;
}

TEST(PhaseWatch, TakesAnIterationOfAHostThatRunsAheadForItsMean) {
  const PhaseWatch watch = host_that_runs_ahead(8, Seconds(3.6), 7);

  const StepPlan plan = watch.plan();

  EXPECT_NEAR(plan.typical.value(), 0.42, 0.04);
  EXPECT_NEAR(plan.pause_every, 8, 0.01);
  EXPECT_GE(plan.window_iterations, 24);
  EXPECT_LE(plan.window_iterations * plan.typical, Seconds(32));
  EXPECT_LE(plan.settle_iterations, 4);
}

// Twelve rounds of `each` iterations, with a pause behind each round; every fifth iteration has a
// GPU time where `timed`.
PhaseWatch rounds_with_pauses(int each, Seconds iteration, Seconds pause, bool timed) {
  PhaseWatch watch;
  for (int i = 0; i < each * 12; ++i) {
    Boundary boundary;
    boundary.time = Instant::from_nanoseconds(0) + iteration * i + pause * (i / each);
    boundary.iterations = i == 0 ? 0 : 1;
    boundary.launch = 7;
    if (timed && i % 5 == 0) boundary.gpu_time = boundary.time.since_origin();
    watch.add(boundary);
  }
  return watch;
}

// A job that waits for data most of the time: the GPU's own times show how long an iteration is,
// and what follows forty of them is a pause.
TEST(PhaseWatch, KnowsAStalledJobFromAHostThatRunsAheadByTheGpusTimes) {
  const PhaseWatch watch = rounds_with_pauses(40, milliseconds(5), milliseconds(350), true);

  const StepPlan plan = watch.plan();

  EXPECT_NEAR(plan.typical.value(), 0.005, 5e-4);
  EXPECT_NEAR(plan.pause_every, 40, 1);
}

TEST(PhaseWatch, FindsShortPausesInTheGpusTimesAlone) {
  const auto pause_every = [](bool timed) {
    return rounds_with_pauses(50, milliseconds(16), milliseconds(110), timed).plan().pause_every;
  };
  EXPECT_NEAR(pause_every(true), 50, 1);
  EXPECT_EQ(pause_every(false), 0) << "a host may wait for its GPU for so long";
}

// Iterations of 200 ms that scatter by so much, and one that takes two more after every 15.
StepPlan plan_of_job_that_evaluates(double scatter) {
  PhaseWatch watch;
  Random random(3);
  Seconds passed;
  for (int i = 0; i < 100; ++i) {
    passed += milliseconds(200 * std::max(0.2, 1 + scatter * random.gaussian()));
    if (i % 15 == 14) passed += milliseconds(400);
    Boundary boundary;
    boundary.time = Instant() + passed;
    boundary.iterations = i == 0 ? 0 : 1;
    boundary.launch = 7;
    watch.add(boundary);
  }
  return watch.plan();
}

TEST(PhaseWatch, TakesTwoMoreIterationsForAPauseWhereAllTakeEquallyLong) {
  EXPECT_NEAR(plan_of_job_that_evaluates(0.01).pause_every, 15, 0.1);
  EXPECT_NEAR(plan_of_job_that_evaluates(0.02).pause_iterations, 1, 0.01);
  EXPECT_EQ(plan_of_job_that_evaluates(0.5).pause_iterations, kPauseIterations);
}

// Batches of five lengths in turn: 100 ms and 1,000 blocks on average, of which `fixed` ms do not
// depend on the length; a little noise.
PhaseWatch batches_of_several_lengths(double spread, double fixed) {
  PhaseWatch watch;
  Seconds passed;
  for (int i = 0; i < 40; ++i) {
    const double length = 1 + spread * (i % 5 - 2);
    passed += milliseconds((fixed + (100 - fixed) * length) * (i % 2 == 0 ? 1.002 : 0.998));
    Boundary boundary;
    boundary.time = Instant() + passed;
    boundary.gpu_time = passed;
    if (i > 0) boundary.blocks = 1000 * length;
    watch.add(boundary);
  }
  return watch;
}

TEST(PhaseWatch, KnowsHowTimeFollowsTheSizeOfABatch) {
  const StepPlan plan = batches_of_several_lengths(0.2, 30).plan();

  EXPECT_NEAR(plan.sizes.usual, 1000, 15);
  EXPECT_NEAR(plan.sizes.share, 0.7, 0.02);
  EXPECT_LE(plan.window_iterations, 40) << "equal work scatters little";
  EXPECT_NEAR(plan.sizes.weigh(2, 2400), 2 * 1.14, 0.02);
  EXPECT_EQ(plan.sizes.weigh(2, std::nullopt), 2);
}

TEST(PhaseWatch, TakesIterationsOfOneShapeAsTheyAre) {
  const StepPlan plan = batches_of_several_lengths(0.01, 0).plan();

  EXPECT_EQ(plan.sizes.weigh(3, 3300), 3);
}

TEST(PhaseWatch, DoesNotBelieveSizesThatExplainNothing) {
  PhaseWatch watch;
  Seconds passed;
  for (int i = 0; i < 40; ++i) {
    passed += milliseconds(80 + 10 * (i % 5));
    Boundary boundary;
    boundary.time = Instant() + passed;
    boundary.gpu_time = passed;
    boundary.blocks = 1000 + 100 * (i % 3);
    watch.add(boundary);
  }

  EXPECT_EQ(watch.plan().sizes.usual, 0);
}

TEST(PhaseWatch, LeavesPausesOutOfAnIterationWhereTheyAreFew) {
  const PhaseWatch watch = host_that_runs_ahead(400, Seconds(2.4), 6);

  EXPECT_NEAR(watch.plan().typical.value(), 0.004, 1e-4);
}

}  // namespace
}  // namespace hypermile
