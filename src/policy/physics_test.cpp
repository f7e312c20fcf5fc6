// SPDX-License-Identifier: Apache-2.0
#include "policy/physics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hypermile {
namespace {

TEST(Physics, TheDefaultIsOneAndClocksAboveItCountAsOne) {
  const Physics physics;

  EXPECT_DOUBLE_EQ(physics.time_ratio(1), 1);
  EXPECT_DOUBLE_EQ(physics.power_ratio(1), 1);
  EXPECT_DOUBLE_EQ(physics.time_ratio(1.2), 1);
}

TEST(Physics, ABareCoreSlowsAsTheClockAndAHostBoundJobNotAtAll) {
  EXPECT_NEAR((Physics{.fixed_share = 0, .core_share = 1}).time_ratio(0.8), 1.25, 1e-12);
  EXPECT_NEAR((Physics{.fixed_share = 1}).time_ratio(0.5), 1, 1e-12);
}

TEST(Physics, TimeRisesAndPowerFallsMonotonicallyWithTheClock) {
  const Physics physics;
  for (double y = 0.2; y < 1; y += 0.05) {
    EXPECT_GE(physics.time_ratio(y), physics.time_ratio(y + 0.05));
    EXPECT_LT(physics.power_ratio(y), physics.power_ratio(y + 0.05));
  }
}

TEST(LimitResponse, FollowsALowLimitAndForgetsAHighOne) {
  const LimitResponse response{20, 1};

  EXPECT_NEAR(response.power_ratio(0.5), 0.5, 1e-3);
  EXPECT_NEAR(response.power_ratio(3), 1, 1e-3);
}

}  // namespace
}  // namespace hypermile
