// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "testing/synthetic_job.h"

namespace hypermile {
namespace {

TEST(Depo, MeasuresTheDefaultFourTimesAndThenByGoldenSection) {
  const Played played = play("depo", clock_job(0.5));

  ASSERT_GT(played.probes.size(), 6U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(played.probes[i].setting, 0U);
  EXPECT_EQ(played.probes[4].setting, 21U);  // 0.382 of 56 steps
  EXPECT_EQ(played.probes[5].setting, 35U);
  EXPECT_LE(played.probes.size(), 4U + 7U);
}

TEST(Depo, FindsAnUnboundedMinimumToATenthOfTheRange) {
  SyntheticJob job = clock_job(0.5);
  job.context.objective.max_slowdown.reset();

  const std::size_t kept = play("depo", job).kept;

  EXPECT_LE(job.energy(kept), 1.01 * job.energy(job.best(1e9)));
}

// The penalty is the same however far beyond the bound, so two probes beyond it lead downwards,
// away from the clocks within: the method's own weakness, kept.
TEST(Depo, LosesItsWayWhenBothFirstProbesAreTooSlow) {
  const SyntheticJob job = clock_job(0.3);

  EXPECT_EQ(play("depo", job).kept, 0U);
}

TEST(Depo, KeepsNothingBeyondTheBound) {
  for (const double compute_bound : {0.1, 0.3, 0.5, 0.7, 0.9}) {
    const SyntheticJob job = clock_job(compute_bound);

    EXPECT_LE(job.slowdown(play("depo", job).kept), 0.05) << compute_bound;
  }
}

TEST(Depo, ClosesDownToNeighboursOnAShortList) {
  SyntheticJob job = limit_job();
  job.context.objective.max_slowdown.reset();

  EXPECT_EQ(play("depo", job).kept, job.best(1e9));
}

}  // namespace
}  // namespace hypermile
