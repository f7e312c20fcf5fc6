// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

TEST(Random, RepeatsExactlyForOneSeed) {
  Random a(42);
  Random b(42);

  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.gaussian(), b.gaussian());
}

TEST(Random, GaussianHasMeanZeroAndUnitDeviation) {
  Random random(7);
  constexpr int kDraws = 100000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.gaussian();
    sum += x;
    squares += x * x;
  }

  EXPECT_NEAR(sum / kDraws, 0, 0.02);
  EXPECT_NEAR(squares / kDraws, 1, 0.03);
}

TEST(Random, UniformStaysInsideItsRange) {
  Random random(1);

  for (int i = 0; i < 1000; ++i) {
    const double x = random.uniform(2, 3);
    EXPECT_GE(x, 2);
    EXPECT_LT(x, 3);
  }
}

TEST(DeriveSeed, DiffersByNameAndBySeed) {
  EXPECT_NE(derive_seed(1, "noise"), derive_seed(1, "drift"));
  EXPECT_NE(derive_seed(1, "noise"), derive_seed(2, "noise"));
  EXPECT_EQ(derive_seed(1, "noise"), derive_seed(1, "noise"));
}

}  // namespace
}  // namespace hypermile
