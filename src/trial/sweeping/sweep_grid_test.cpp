// SPDX-License-Identifier: Apache-2.0
#include "trial/sweeping/sweep_grid.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hypermile {
namespace {

Setting sm(double mhz) {
  Setting setting;
  setting.sm_clock = Mhz(mhz);
  return setting;
}

// SM clocks of 900, 800 … 400 MHz at two memory clocks, and two limits at each of them.
std::vector<Setting> offered() {
  std::vector<Setting> settings;
  for (const double memory : {0.0, 405.0}) {
    for (double clock = 1000; clock >= 400; clock -= 100) {
      for (const double limit : {0.0, 250.0, 200.0}) {
        Setting setting;
        if (memory > 0) setting.memory_clock = Mhz(memory);
        if (clock < 1000) setting.sm_clock = Mhz(clock);
        if (limit > 0) setting.power_limit = Watts(limit);
        settings.push_back(setting);
      }
    }
  }
  return settings;
}

std::vector<double> sm_clocks(const std::string& grid) {
  std::vector<double> clocks;
  const std::vector<Setting> settings = *SweepGrid::parse(grid)->choose(offered());
  for (const Setting& setting : settings) clocks.push_back(setting.sm_clock->value());
  std::ranges::sort(clocks);
  return clocks;
}

TEST(SweepGrid, SpreadsTheClocksOverTheWholeRange) {
  EXPECT_EQ(sm_clocks("sm=3"), (std::vector<double>{400, 600, 900}));
  EXPECT_EQ(sm_clocks("sm=50"), sm_clocks("sm=all"));
  EXPECT_EQ(sm_clocks("sm=all").size(), 6U);
}

TEST(SweepGrid, TakesTheNearestClocksThatTheCardHas) {
  EXPECT_EQ(sm_clocks("sm=795/410/405"), (std::vector<double>{400, 800}));
}

TEST(SweepGrid, CrossesClocksAndSweepsLimitsAlone) {
  const std::vector<Setting> chosen =
      *SweepGrid::parse("sm=2,mem=all,limit=all")->choose(offered());

  // Two SM clocks or the driver's choice, at two memory clocks, without the default; and two
  // limits.
  EXPECT_EQ(chosen.size(), 2U * 3U - 1U + 2U);
  for (const Setting& setting : chosen) {
    EXPECT_FALSE(setting.power_limit && (setting.sm_clock || setting.memory_clock));
    EXPECT_FALSE(setting.empty());
  }
}

TEST(SweepGrid, BeginsCoarse) {
  const std::vector<Setting> chosen = *SweepGrid::parse("sm=all")->choose(offered());

  EXPECT_EQ(chosen[0], sm(900));
  EXPECT_EQ(chosen[1], sm(500));
  EXPECT_EQ(chosen[2], sm(700));
}

TEST(SweepGrid, RefusesBadTextAndShowsTheExpectedForm) {
  for (const char* bad : {"", "sm", "sm=", "sm=0", "sm=-3", "sm=2.5", "sm=1500/x", "sm=2,sm=3"}) {
    const auto grid = SweepGrid::parse(bad);
    ASSERT_FALSE(grid.ok()) << bad;
    EXPECT_EQ(grid.error().code, ErrorCode::kUsage);
    EXPECT_FALSE(grid.error().remedy.empty());
  }
  EXPECT_NE(SweepGrid::parse("mm=3").error().line().find("mem"), std::string::npos);
}

TEST(SweepGrid, RefusesACardThatOffersNoSettingOfTheGrid) {
  const auto chosen = SweepGrid::parse("limit=3")->choose(std::vector<Setting>{Setting(), sm(900)});

  ASSERT_FALSE(chosen.ok());
  EXPECT_EQ(chosen.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace hypermile
