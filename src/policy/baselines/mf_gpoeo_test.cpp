// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "testing/synthetic_job.h"

namespace hypermile {
namespace {

TEST(MfGpoeo, ControlsTheSlowdownCloseToItsTarget) {
  for (const double compute_bound : {0.3, 0.5, 0.7, 0.9}) {
    const SyntheticJob job = clock_job(compute_bound);

    const std::size_t kept = play("mf-gpoeo", job).kept;

    EXPECT_LE(job.slowdown(kept), 0.047) << compute_bound;
    EXPECT_GE(job.slowdown(kept), 0.02) << compute_bound;
  }
}

TEST(MfGpoeo, StartsAtNinetyFivePercentAndMeasuresTheDefaultAgainAfterTwoSteps) {
  const SyntheticJob job = clock_job(0.5);

  const Played played = play("mf-gpoeo", job);

  ASSERT_GT(played.probes.size(), 3U);
  EXPECT_EQ(played.probes[1].setting, 5U);  // 1335 of 1410 MHz
  EXPECT_EQ(played.probes[3].setting, 0U);
}

TEST(MfGpoeo, EndsWithinTwelveStepsUnderNoise) {
  const Played played = play("mf-gpoeo", clock_job(0.2), 150, 0.05);

  EXPECT_FALSE(played.exploring);
  EXPECT_LE(played.probes.size(), 1U + 12U + 2U);
}

TEST(MfGpoeo, LowersTheMemoryClockFirstAndSkipsTheOneTooSlow) {
  const SyntheticJob job = memory_job(0.1);

  const Played played = play("mf-gpoeo", job);

  EXPECT_EQ(played.probes[1].setting, 5U);
  EXPECT_EQ(job.context.settings[played.kept].memory_clock, Mhz(5001));
  EXPECT_LE(job.slowdown(played.kept), 0.05);
}

TEST(MfGpoeo, StartsAgainWhenPowerHasMovedForGood) {
  SyntheticJob job = clock_job(0.5);
  LedgeredPolicy policy(*make_policy("mf-gpoeo", job.context), job.context);
  play(policy, job, 40);

  for (double& watts : job.power) watts *= 1.1;
  EXPECT_TRUE(play(policy, job, 10).probes.empty());
  for (double& watts : job.power) watts *= 1.3;
  EXPECT_FALSE(play(policy, job, 10).probes.empty());
}

}  // namespace
}  // namespace hypermile
