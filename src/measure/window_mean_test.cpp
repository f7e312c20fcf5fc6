// SPDX-License-Identifier: Apache-2.0
#include "measure/window_mean.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace hypermile {
namespace {

TEST(WindowMean, KnowsNothingWithoutWindows) {
  const WindowMean mean;

  EXPECT_FALSE(mean.mean());
  EXPECT_FALSE(mean.half_width95());
  EXPECT_FALSE(mean.estimate());
}

TEST(WindowMean, TakesTheErrorOfASingleWindow) {
  WindowMean mean;
  mean.add(50, 10, 0.01);

  EXPECT_EQ(mean.mean(), 50);
  EXPECT_NEAR(*mean.half_width95(), 0.98, 1e-4);
}

TEST(WindowMean, WeighsWindowsByTheirIterations) {
  WindowMean mean;
  mean.add(10, 30, {});
  mean.add(20, 10, {});

  EXPECT_NEAR(*mean.mean(), 12.5, 1e-12);
}

TEST(WindowMean, CoversTheTruthNineteenTimesInTwenty) {
  Random random(7);
  int covered = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    WindowMean mean;
    const int windows = 3 + trial % 10;
    for (int i = 0; i < windows; ++i) mean.add(100 + 2 * random.gaussian(), 25, {});
    if (std::abs(*mean.mean() - 100) <= *mean.half_width95()) ++covered;
  }

  EXPECT_NEAR(covered / static_cast<double>(kTrials), 0.95, 0.015);
}

}  // namespace
}  // namespace hypermile
