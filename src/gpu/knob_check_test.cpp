// SPDX-License-Identifier: Apache-2.0
#include "gpu/knob_check.h"

#include <gtest/gtest.h>

#include <limits>

namespace hypermile {
namespace {

const std::vector<Mhz> kClocks = {Mhz(1980), Mhz(1965), Mhz(1410), Mhz(345)};

TEST(SupportedClock, SnapsToAClockWithinOneMegahertz) {
  EXPECT_EQ(*supported_clock("SM clock", Mhz(1410), kClocks), Mhz(1410));
  EXPECT_EQ(*supported_clock("SM clock", Mhz(1409.5), kClocks), Mhz(1410));
}

TEST(SupportedClock, NamesTheNearestClocksIfItRefuses) {
  const auto remedy = [](double mhz) {
    return supported_clock("SM clock", Mhz(mhz), kClocks).error().remedy;
  };

  EXPECT_EQ(remedy(1500), "use 1410 or 1965 MHz");
  EXPECT_EQ(remedy(1900), "use 1410 or 1965 MHz");
  EXPECT_EQ(remedy(5000), "use 1980 MHz");
  EXPECT_EQ(remedy(1), "use 345 MHz");
}

TEST(SupportedClock, RefusesNonNumbersAndCardsWithoutAList) {
  const Mhz nan(std::numeric_limits<double>::quiet_NaN());

  EXPECT_EQ(supported_clock("SM clock", nan, kClocks).error().code, ErrorCode::kUsage);
  EXPECT_EQ(supported_clock("SM clock", Mhz(1410), {}).error().code, ErrorCode::kUnsupported);
}

TEST(CheckPowerLimit, AcceptsItsRangeIncludingBothEnds) {
  const Range range{Watts(200), Watts(700)};

  EXPECT_TRUE(check_power_limit(Watts(200), range).ok());
  EXPECT_TRUE(check_power_limit(Watts(700), range).ok());
  EXPECT_EQ(check_power_limit(Watts(199), range).error().remedy, "use 200 to 700 W");
  EXPECT_FALSE(check_power_limit(Watts(std::numeric_limits<double>::quiet_NaN()), range).ok());
  EXPECT_EQ(check_power_limit(Watts(300), std::nullopt).error().code, ErrorCode::kUnsupported);
}

TEST(CheckBarrier, RefusesEveryBarrierWithAWayOut) {
  EXPECT_TRUE(check_barrier(ControlBarrier::kNone).ok());
  for (const ControlBarrier barrier :
       {ControlBarrier::kMigEnabled, ControlBarrier::kVirtualGpu, ControlBarrier::kSharedByMps}) {
    EXPECT_NE(check_barrier(barrier).error().remedy.find("observe only"), std::string::npos);
  }
}

}  // namespace
}  // namespace hypermile
