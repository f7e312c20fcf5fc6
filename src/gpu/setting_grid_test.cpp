// SPDX-License-Identifier: Apache-2.0
#include "gpu/setting_grid.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

Capabilities card() {
  Capabilities card;
  card.sm_clocks = {Mhz(1200), Mhz(1000), Mhz(800), Mhz(600), Mhz(400), Mhz(300)};
  card.memory_clocks = {Mhz(5000), Mhz(800)};
  card.power_limit_range = Range{Watts(100), Watts(200)};
  card.sm_clock_lock = card.memory_clock_lock = card.power_limit_set = Support::kYes;
  return card;
}

const Setting kDefaults = {
    .sm_clock = Mhz(1000), .memory_clock = Mhz(5000), .power_limit = Watts(160)};

std::vector<std::string> names(const std::vector<Setting>& grid) {
  std::vector<std::string> names;
  for (const Setting& setting : grid) names.push_back(to_string(setting));
  return names;
}

TEST(SettingGrid, ListsClocksBelowTheDefaultDownToFourTenthsOfIt) {
  const auto grid = setting_grid(card(), kDefaults, std::vector{Knob::kSmClock});

  EXPECT_EQ(names(grid),
            (std::vector<std::string>{"default", "sm=800MHz", "sm=600MHz", "sm=400MHz"}));
}

TEST(SettingGrid, CombinesKnobsTheDefaultFirst) {
  const auto grid =
      setting_grid(card(), kDefaults, std::vector{Knob::kSmClock, Knob::kMemoryClock});

  ASSERT_EQ(grid.size(), 8U);
  EXPECT_TRUE(grid[0].empty());
  EXPECT_EQ(to_string(grid[4]), "mem=800MHz");
  EXPECT_EQ(to_string(grid[7]), "sm=400MHz mem=800MHz");
}

TEST(SettingGrid, StepsLimitsDownToTheLeastAllowed) {
  const auto grid = setting_grid(card(), kDefaults, std::vector{Knob::kPowerLimit});

  EXPECT_EQ(names(grid), (std::vector<std::string>{"default", "limit=135W", "limit=110W"}));
}

TEST(SettingGrid, SkipsKnobsThatCannotMoveOrHaveNoKnownDefault) {
  Capabilities fixed = card();
  fixed.memory_clock_lock = Support::kNo;
  Setting unknown = kDefaults;
  unknown.sm_clock.reset();

  EXPECT_EQ(setting_grid(fixed, kDefaults, std::vector{Knob::kMemoryClock}).size(), 1U);
  EXPECT_EQ(setting_grid(card(), unknown, std::vector{Knob::kSmClock}).size(), 1U);
}

}  // namespace
}  // namespace hypermile
