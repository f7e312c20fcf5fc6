// SPDX-License-Identifier: Apache-2.0
#include "policy/expectation.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

PolicyContext context(double slowdown) {
  PolicyContext context;
  context.settings.emplace_back();
  for (double clock = 1965; clock >= 600; clock -= 15) {
    context.settings.push_back({.sm_clock = Mhz(clock)});
  }
  context.objective.max_slowdown = slowdown;
  return context;
}

Window at_default() {
  Window window;
  window.time_per_iteration = Seconds(0.1);
  window.power = Watts(500);
  window.sm_clock = Mhz(1980);
  return window;
}

TEST(Expectation, IsASpreadOfSavingsThatKeepTheBound) {
  const auto expected = expect_saving(context(0.05), at_default());

  ASSERT_TRUE(expected.has_value());
  EXPECT_GE(expected->low, 0);
  EXPECT_LT(expected->low, expected->median);
  EXPECT_LT(expected->median, expected->high);
  EXPECT_LE(expected->high, 0.6);  // a tenth of measured jobs do not slow down at all
  EXPECT_GE(expected->slowdown, 0);
  EXPECT_LE(expected->slowdown, 0.05);
  EXPECT_LT(expected->setting.sm_clock->value(), 1980);
}

TEST(Expectation, GrowsWithTheSlowdownAllowed) {
  EXPECT_LT(expect_saving(context(0.01), at_default())->median,
            expect_saving(context(0.10), at_default())->median);
}

TEST(Expectation, IsNoneWithoutAChoiceOrAPower) {
  PolicyContext no_choice = context(0.05);
  no_choice.settings.resize(1);
  Window no_power = at_default();
  no_power.power.reset();

  EXPECT_FALSE(expect_saving(no_choice, at_default()).has_value());
  EXPECT_FALSE(expect_saving(context(0.05), no_power).has_value());
}

}  // namespace
}  // namespace hypermile
