// SPDX-License-Identifier: Apache-2.0
#include "policy/slice.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

Setting sm(double clock) {
  return Setting{.sm_clock = Mhz(clock)};
}
Setting both(double clock, double memory) {
  return Setting{.sm_clock = Mhz(clock), .memory_clock = Mhz(memory)};
}

TEST(Slice, HoldsTheClocksBelowTheDefaultsInDescendingOrder) {
  const std::vector<Setting> settings = {{}, sm(900), sm(1500), sm(1200), sm(500)};
  const Slice slice = make_slice(settings, std::nullopt, {Mhz(1400), std::nullopt, Watts(300)});

  ASSERT_EQ(slice.points.size(), 3U);
  EXPECT_EQ(slice.points[1].setting, 3U);
  EXPECT_EQ(slice.points[2].setting, 1U);
  EXPECT_FALSE(slice.own_level);
}

TEST(Slice, AnotherMemoryClockHasALevelOfItsOwnAndKeepsItsHighestClock) {
  const std::vector<Setting> settings = {
      {}, sm(1200), Setting{.memory_clock = Mhz(800)}, both(1400, 800), both(1200, 800)};
  const Slice slice = make_slice(settings, Mhz(800), {Mhz(1400), std::nullopt, Watts(300)});

  ASSERT_EQ(slice.points.size(), 4U);
  EXPECT_TRUE(slice.own_level);
  EXPECT_EQ(slice.points[1].ratio, 1);
}

TEST(Slice, LimitsAreSearchedOnlyWhereNoClockIs) {
  const Setting limit{.power_limit = Watts(200)};
  const DefaultState found{Mhz(1400), Watts(300), Watts(280)};
  const std::vector<Setting> only_limits = {{}, limit};
  const std::vector<Setting> with_clocks = {{}, limit, sm(1200)};

  EXPECT_TRUE(make_slice(only_limits, std::nullopt, found).limits);
  const Slice clocks = make_slice(with_clocks, std::nullopt, found);
  EXPECT_FALSE(clocks.limits);
  ASSERT_EQ(clocks.points.size(), 2U);
  EXPECT_EQ(clocks.points[1].setting, 2U);
}

TEST(Slice, WithoutKnowledgeOfTheDefaultsClockTheHighestListedStandsForIt) {
  const std::vector<Setting> settings = {{}, sm(1400), sm(1200)};
  const Slice slice = make_slice(settings, std::nullopt, {std::nullopt, std::nullopt, Watts(300)});

  ASSERT_EQ(slice.points.size(), 2U);
  EXPECT_NEAR(slice.points[1].ratio, 1200.0 / 1400, 1e-12);
}

TEST(Slice, NamesMemoryClocksFromTheHighestDown) {
  const std::vector<Setting> settings = {{}, both(1, 500), both(1, 900), both(2, 900)};
  const auto states = memory_states(settings);

  ASSERT_EQ(states.size(), 3U);
  EXPECT_EQ(states[0], std::nullopt);
  EXPECT_EQ(states[1], Mhz(900));
}

}  // namespace
}  // namespace hypermile
