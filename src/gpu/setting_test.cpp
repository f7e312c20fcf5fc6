// SPDX-License-Identifier: Apache-2.0
#include "gpu/setting.h"

#include <gtest/gtest.h>

#include "gpu/gpu.h"

namespace hypermile {
namespace {

TEST(Setting, IsWrittenAndReadBackUnchanged) {
  const Setting all{.sm_clock = Mhz(1372.5), .memory_clock = Mhz(2201), .power_limit = Watts(250)};

  EXPECT_EQ(to_string(all), "sm=1372.5MHz mem=2201MHz limit=250W");
  EXPECT_EQ(*parse_setting(to_string(all)), all);
  EXPECT_EQ(*parse_setting("default"), Setting{});
  EXPECT_EQ(to_string(Setting{}), "default");
}

TEST(Setting, TakesTheShortFormsPeopleType) {
  EXPECT_EQ(*parse_setting("1410"), Setting{.sm_clock = Mhz(1410)});
  EXPECT_EQ(*parse_setting("sm=1410,mem=1593"),
            (Setting{.sm_clock = Mhz(1410), .memory_clock = Mhz(1593)}));
}

TEST(Setting, RefusesRepeatsUnknownKnobsAndNonsense) {
  for (const char* text : {"", "sm=", "sm=1,sm=2", "fan=3", "sm=-5", "sm=1410W", "limit=nan"}) {
    EXPECT_FALSE(parse_setting(text).ok()) << text;
  }
}

TEST(EventReasons, DistinguishOurOwnRequestFromThrottling) {
  EXPECT_FALSE(EventReasons{EventReasons::kRequestedClocks}.throttled());
  EXPECT_TRUE(
      (EventReasons{EventReasons::kRequestedClocks | EventReasons::kSoftwarePowerCap}).throttled());
  EXPECT_EQ(
      to_string(EventReasons{EventReasons::kSoftwarePowerCap | EventReasons::kSoftwareThermal}),
      "power cap, thermal");
}

TEST(AllApplied, NamesTheKnobThatFailed) {
  const ApplyOutcome outcome = {{Knob::kSmClock, {}},
                                {Knob::kPowerLimit, Error{ErrorCode::kPermission, "not allowed"}}};

  EXPECT_EQ(all_applied(outcome).error().line(), "limit: not allowed");
}

TEST(SettingShares, AreShownTheLargestFirst) {
  const std::vector<SettingShare> shares = {
      {{}, 0.1}, {{.sm_clock = Mhz(1410)}, 0.3}, {{.sm_clock = Mhz(1695)}, 0.6}};

  EXPECT_EQ(to_string(shares), "60 % sm=1695MHz, 30 % sm=1410MHz, 10 % default");
  EXPECT_EQ(to_string(shares, 1), "60 % sm=1695MHz, 40 % others");
  EXPECT_EQ(to_string(std::vector<SettingShare>{{{.sm_clock = Mhz(1410)}, 1}}), "sm=1410MHz");
  EXPECT_EQ(to_string(std::vector<SettingShare>()), "default");
}

}  // namespace
}  // namespace hypermile
