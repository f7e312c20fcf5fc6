// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "testing/synthetic_job.h"

namespace hypermile {
namespace {

TEST(Odpp, SamplesFourClocksOverTheRangeAndThreeBetweenThem) {
  const SyntheticJob job = clock_job(0.5);

  const Played played = play("odpp", job);

  std::vector<std::size_t> sampled;
  for (const Step& probe : played.probes) sampled.push_back(probe.setting);
  EXPECT_EQ(sampled, (std::vector<std::size_t>{0, 19, 37, 56, 9, 28, 47}));
}

TEST(Odpp, ChoosesAClockItNeverSampledWithinNineTenthsOfTheBound) {
  const SyntheticJob job = clock_job(0.4);

  const std::size_t kept = play("odpp", job).kept;

  EXPECT_LE(job.slowdown(kept), 0.045);
  EXPECT_LE(job.energy(kept), 1.04 * job.energy(job.best(0.045)));
}

TEST(Odpp, ComparesRelativeTimesWhateverTheLengthOfAnIteration) {
  SyntheticJob job = clock_job(0.4);
  const std::size_t kept = play("odpp", job).kept;
  for (double& time : job.time) time *= 300;

  EXPECT_EQ(play("odpp", job).kept, kept);
  EXPECT_NE(kept, 0U);
}

TEST(Odpp, SamplesAgainWhenPowerSpreadsByMoreThanFifteenPercent) {
  SyntheticJob job = clock_job(0.4);
  LedgeredPolicy policy(*make_policy("odpp", job.context), job.context);
  play(policy, job, 20);

  for (double& watts : job.power) watts *= 1.1;
  EXPECT_TRUE(play(policy, job, 20).probes.empty());
  for (double& watts : job.power) watts *= 1.1;
  EXPECT_EQ(play(policy, job, 20).probes.size(), 7U);
}

}  // namespace
}  // namespace hypermile
