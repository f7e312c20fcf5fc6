// SPDX-License-Identifier: Apache-2.0
#include "policy/level_track.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace hypermile {
namespace {

TEST(LevelTrack, AveragesAllStaysOfASteadyJob) {
  LevelTrack track;
  Random random(3);
  for (int stay = 0; stay < 20; ++stay) {
    track.add(10.0 * stay, 1, 0.01 * random.gaussian(), true);
  }
  track.solve(0.01);

  const std::vector<double> weights(21, 1.0);
  EXPECT_NEAR(track.at(0), track.at(190), 1e-3);
  EXPECT_NEAR(track.now(), 0, 3 * 0.01 / std::sqrt(20));
  EXPECT_NEAR(std::sqrt(track.variance_of_mean(weights, 0, 195, true)), 0.01 / std::sqrt(20), 5e-4);
}

TEST(LevelTrack, FollowsAWalkThatIsPlainlyLargerThanTheNoise) {
  LevelTrack track;
  for (int stay = 0; stay < 20; ++stay) {
    track.add(10.0 * stay, 1, 0.03 * std::sin(0.3 * stay), true);
  }
  track.solve(0.001);

  for (int stay = 0; stay < 20; ++stay) {
    EXPECT_NEAR(track.at(10.0 * stay), 0.03 * std::sin(0.3 * stay), 0.003);
  }
}

TEST(LevelTrack, IsSurerAfterOneMoreWindow) {
  LevelTrack track;
  track.add(1, 2, 0, true);
  track.solve(0.01);
  const std::vector<double> weights = {0, 50};

  const double now = track.variance_of_mean(weights, 0, 52, true);
  EXPECT_LT(track.variance_of_mean(weights, 1, 52, true), now);
  EXPECT_NEAR(now, 0.01 * 0.01 / 2, 1e-6);
}

TEST(LevelTrack, KeepsItsLevelsWhenStaysAreMerged) {
  LevelTrack track;
  for (int stay = 0; stay < 101; ++stay) track.add(stay, 1, 0.001 * stay, true);
  track.solve(0.001);
  const double before = track.at(50);

  track.thin_out();

  EXPECT_EQ(track.stays(), 51U);
  EXPECT_NEAR(track.at(50), before, 0.001);
  EXPECT_DOUBLE_EQ(track.windows(), 101);
}

}  // namespace
}  // namespace hypermile
