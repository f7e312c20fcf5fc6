// SPDX-License-Identifier: Apache-2.0
#include "policy/baselines/pid_gain.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hypermile {
namespace {

constexpr double kTarget = 0.047;

TEST(PidGain, GoesDownBelowTheTargetAndUpAboveIt) {
  EXPECT_GT(PidGain(kTarget).delta(0.01, 0.95), 0);
  EXPECT_LT(PidGain(kTarget).delta(0.08, 0.95), 0);
}

TEST(PidGain, SettlesInsideTheDeadBand) {
  PidGain pid(kTarget);
  EXPECT_FALSE(pid.settled());

  pid.delta(0.02, 0.95);
  EXPECT_FALSE(pid.settled());
  pid.delta(0.0468, 0.9);
  EXPECT_TRUE(pid.settled());
}

TEST(PidGain, StridesLongerAndLongerWhileTheCeilingHasNoEffect) {
  PidGain pid(kTarget);
  double last = 0;
  for (const double height : {0.95, 0.85, 0.75, 0.65}) {
    const double delta = pid.delta(0.0, height);
    EXPECT_GT(delta, last);
    last = delta;
  }
}

TEST(PidGain, ForgetsTheLongStrideOnceTheCeilingBites) {
  PidGain boosted(kTarget);
  for (const double height : {0.95, 0.85, 0.75}) boosted.delta(0.0, height);
  boosted.delta(0.06, 0.6);
  PidGain fresh(kTarget);
  fresh.delta(0.0, 0.75);
  fresh.delta(0.06, 0.6);

  EXPECT_NEAR(boosted.delta(0.03, 0.65), fresh.delta(0.03, 0.65), 1e-3);
}

TEST(PidGain, NeverMovesByMoreThanHalf) {
  PidGain pid(kTarget);
  for (const double slowdown : {1e18, -1.0, 1e9, 0.0, 1e18}) {
    EXPECT_LE(std::abs(pid.delta(slowdown, 0.9)), 0.5);
  }
}

}  // namespace
}  // namespace hypermile
