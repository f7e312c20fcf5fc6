// SPDX-License-Identifier: Apache-2.0
#include "control/pace_change.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace hypermile {
namespace {

// How many values pass until a change is told; -1: none is.
int values_until_told(ChangeTest& test, Random& random, double level, double noise, int most) {
  for (int i = 0; i < most; ++i) {
    if (test.add(level * (1 + noise * random.gaussian()))) return i + 1;
  }
  return -1;
}

TEST(ChangeTest, StaysSilentOnNoiseAlone) {
  for (const double noise : {0.001, 0.01, 0.03}) {
    Random random(3);
    ChangeTest test(0.03);

    EXPECT_EQ(values_until_told(test, random, 100, noise, 3000), -1) << noise;
  }
}

TEST(ChangeTest, TellsALastingChangeWithinSomeValuesAndHowLargeItIs) {
  for (const double after : {90.0, 108.0}) {
    Random random(5);
    ChangeTest test(0.03);
    ASSERT_EQ(values_until_told(test, random, 100, 0.005, 20), -1);

    std::optional<ChangeTest::Change> change;
    int values = 0;
    while (!change && ++values < 20) change = test.add(after * (1 + 0.005 * random.gaussian()));

    ASSERT_TRUE(change.has_value()) << after;
    EXPECT_LE(values, 8);
    EXPECT_NEAR(change->before, 100, 1.5);
    EXPECT_NEAR(change->after, after, 1.5);
  }
}

TEST(ChangeTest, ForgivesSingleOddValuesAndSlowDrift) {
  Random random(7);
  ChangeTest test(0.03);
  double level = 100;
  for (int i = 0; i < 400; ++i) {
    level *= 1.0003;  // 12 % over all
    const double value = i % 25 == 24 ? level * 1.3 : level * (1 + 0.005 * random.gaussian());

    ASSERT_FALSE(test.add(value).has_value()) << i;
  }
}

TEST(ChangeTest, PassesOverValuesThatMeanNothing) {
  ChangeTest test(0.03);
  for (int i = 0; i < 10; ++i) test.add(100);

  EXPECT_FALSE(test.add(0).has_value());
  EXPECT_FALSE(test.add(-5).has_value());
  EXPECT_FALSE(test.add(std::numeric_limits<double>::quiet_NaN()).has_value());
  EXPECT_FALSE(test.add(100).has_value());
}

}  // namespace
}  // namespace hypermile
