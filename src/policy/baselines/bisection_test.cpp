// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "testing/synthetic_job.h"

namespace hypermile {
namespace {

TEST(Bisection, FindsTheLowestClockWithinTheBoundInLogarithmicallyManyProbes) {
  for (const double compute_bound : {0.4, 0.6, 0.8, 1.0}) {
    const SyntheticJob job = clock_job(compute_bound);

    const Played played = play("bisection", job);

    EXPECT_EQ(played.kept, job.best(0.05)) << compute_bound;
    EXPECT_LE(played.probes.size(), 1U + 6U);
  }
}

TEST(Bisection, KeepsTheDefaultOfAJobThatNoClockSaves) {
  SyntheticJob job = clock_job(1.0);
  for (double& watts : job.power) watts = 300;

  EXPECT_EQ(play("bisection", job).kept, 0U);
}

TEST(Bisection, TakesMemoryFirstAndThenTheClock) {
  const SyntheticJob job = memory_job(0.15);

  const Played played = play("bisection", job);

  EXPECT_EQ(played.kept, job.best(0.05));
  EXPECT_EQ(played.probes[1].setting, 5U);  // the lower memory clock at the top SM clock
}

TEST(Bisection, WithoutABoundSearchesTheScore) {
  SyntheticJob job = clock_job(0.5);
  job.context.objective = *parse_objective("edp");

  const std::size_t kept = play("bisection", job).kept;

  const auto edp = [&](std::size_t i) { return job.energy(i) * job.time[i]; };
  for (std::size_t i = 0; i < job.time.size(); ++i) EXPECT_LE(edp(kept), 1.002 * edp(i)) << i;
}

TEST(BisectionMargin, StaysOnePointBelowTheBound) {
  const SyntheticJob job = clock_job(0.6);

  const Played played = play("bisection-margin", job);

  EXPECT_EQ(played.kept, job.best(0.04));
}

TEST(BisectionMargin, MeasuresTheDefaultFourTimesAndEachProbeTwice) {
  const Played played = play("bisection-margin", clock_job(0.6));

  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(played.probes[i].setting, 0U);
  ASSERT_EQ(played.probes.size() % 2, 0U);
  for (std::size_t i = 4; i < played.probes.size(); i += 2) {
    EXPECT_NE(played.probes[i].setting, 0U);
    EXPECT_EQ(played.probes[i].setting, played.probes[i + 1].setting);
  }
}

TEST(BisectionMargin, HalvesABoundThatTheMarginWouldUseUp) {
  SyntheticJob job = clock_job(0.2);
  job.context.objective.max_slowdown = 0.01;

  EXPECT_EQ(play("bisection-margin", job).kept, job.best(0.005));
}

}  // namespace
}  // namespace hypermile
