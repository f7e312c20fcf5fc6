// SPDX-License-Identifier: Apache-2.0
#include "policy/observations.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace hypermile {
namespace {

TEST(Observations, NeighboursAtOneSettingMergeIntoABlock) {
  Observations seen;
  seen.add(0, 15, 1, 0.0, 1.0);
  seen.add(0, 45, 1, 0.2, 1.2);
  seen.add(3, 80, 1, 0.5, 0.8);

  ASSERT_EQ(seen.blocks().size(), 2U);
  EXPECT_NEAR(seen.blocks()[0].log_time, 0.1, 1e-12);
  EXPECT_NEAR(seen.blocks()[0].at, 30, 1e-12);
  EXPECT_EQ(seen.windows_at(0), 2);
  EXPECT_EQ(seen.windows_at(7), 0);
}

TEST(Observations, ToConfirmRepeatsWhatIsKnownAndTeachesNoNoise) {
  Observations seen;
  seen.confirm(0, 5, 1);
  seen.add(0, 15, 1, 0.1, 1.0);
  seen.add(0, 45, 1, 0.3, 1.2);
  const Noise before = seen.noise();

  seen.confirm(0, 500, 1);
  seen.confirm(0, 530, 1);

  EXPECT_EQ(seen.windows_at(0), 4);
  EXPECT_NEAR(seen.blocks().back().log_time, 0.2, 1e-12);
  EXPECT_EQ(seen.blocks().back().at, 530);
  EXPECT_EQ(seen.noise().time, before.time);
}

TEST(Observations, TheNoiseIsLearntAndDriftDoesNotPassForIt) {
  Observations seen;
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    const double drift = 0.001 * i;
    seen.add(1, 30.0 * i, 1, drift + 0.03 * random.gaussian(), 0.004 * random.gaussian());
  }

  EXPECT_NEAR(seen.noise().time, 0.03, 0.004);
  EXPECT_NEAR(seen.noise().power, 0.004, 0.002);
}

TEST(Observations, LongWindowsTeachTheNoiseOfOneFullWindow) {
  Observations seen;
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    seen.add(1, 120.0 * i, 4, 0.02 / 2 * random.gaussian(), 0);
  }

  EXPECT_NEAR(seen.noise().time, 0.02, 0.002);
}

TEST(Observations, BlocksStayFewHoweverLongTheJobAndNoWindowIsLost) {
  Observations seen;
  for (int i = 0; i < 5000; ++i) seen.add(static_cast<std::size_t>(i / 20 % 5), 30.0 * i, 1, 0, 0);

  EXPECT_LE(seen.blocks().size(), 60U);
  double windows = 0;
  for (const Block& block : seen.blocks()) windows += block.windows;
  EXPECT_EQ(windows, 5000);
}

// Blocks of one window at the default, 300 iterations apart, that swing by `swing`.
std::vector<Block> baselines(double swing, double noise) {
  Random random(3);
  std::vector<Block> blocks;
  for (int i = 0; i < 12; ++i) {
    blocks.push_back(
        {0, 300.0 * i, 1, (i % 2 == 0 ? swing : -swing) + noise * random.gaussian(), 0});
  }
  return blocks;
}

TEST(EstimateDrift, LearnsThatAJobWandersAndThatAnotherDoesNot) {
  const Noise noise{0.002, 0.002};
  const double usual = DriftModel{}.sd;

  EXPECT_GT(estimate_drift(baselines(0.02, 0.002), noise).sd, 3 * usual);
  EXPECT_LT(estimate_drift(baselines(0, 0.002), noise).sd, 0.7 * usual);
}

TEST(EstimateDrift, TakesTheUsualWhileTheDefaultWasMeasuredOnce) {
  const std::vector<Block> one = {{0, 10, 4, 0.1, 0}, {2, 100, 4, 0.3, 0}};

  EXPECT_EQ(estimate_drift(one, Noise{}).sd, DriftModel{}.sd);
  EXPECT_EQ(estimate_drift({}, Noise{}).sd, DriftModel{}.sd);
}

}  // namespace
}  // namespace hypermile
