// SPDX-License-Identifier: Apache-2.0
#include "policy/mix.h"

#include <gtest/gtest.h>

#include <vector>

namespace hypermile {
namespace {

const std::vector<Candidate> kChoices = {
    {0, 1, 1}, {1, 1.02, 0.94}, {2, 1.04, 0.92}, {3, 1.08, 0.8}};

TEST(Mix, SharesTheTimeBetweenTheTwoSettingsOfTheHull) {
  const Mix mix = best_mix(kChoices, 1.05);

  EXPECT_EQ(mix.fast, 1U);  // the third choice lies above the line from the second to the fourth
  EXPECT_EQ(mix.slow, 3U);
  EXPECT_NEAR(mix.share, 0.5, 1e-9);
  EXPECT_NEAR(mix.price, 0.87, 1e-9);
  EXPECT_NEAR(mix.worth_of_time, 0.14 / 0.06, 1e-9);
  EXPECT_LT(mix.price, best_single(kChoices, 1.05).price);
}

TEST(Mix, IsOneSettingWhereMoreTimeBuysNothing) {
  const Mix mix = best_mix(kChoices, 1.2);

  EXPECT_EQ(mix.fast, 3U);
  EXPECT_EQ(mix.slow, 3U);
  EXPECT_EQ(mix.worth_of_time, 0);
}

TEST(Mix, TakesTheFastestWhereNothingIsFastEnough) {
  EXPECT_EQ(best_mix(kChoices, 0.9).slow, 0U);
}

TEST(Mix, GainsByAChoiceBelowTheHullAndNotByOneAbove) {
  const Mix mix = best_mix(kChoices, 1.05);

  EXPECT_NEAR(gain_of(kChoices, mix, {4, 1.05, 0.85}, 1.05), 0.02, 1e-9);
  EXPECT_EQ(gain_of(kChoices, mix, {4, 1.05, 0.9}, 1.05), 0);
  std::vector<Candidate> more = kChoices;
  more.push_back({4, 1.1, 0.6});
  EXPECT_NEAR(gain_of(kChoices, mix, more.back(), 1.05), mix.price - best_mix(more, 1.05).price,
              1e-9);
}

}  // namespace
}  // namespace hypermile
