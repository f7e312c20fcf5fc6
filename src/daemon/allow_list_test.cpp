// SPDX-License-Identifier: Apache-2.0
#include "daemon/allow_list.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hypermile {
namespace {

const GpuUuid kFirst("GPU-1");
const GpuUuid kSecond("GPU-2");

Peer user(uid_t uid, std::vector<gid_t> groups = {}) {
  return Peer{uid, std::move(groups), 1};
}

Capabilities card() {
  Capabilities capabilities;
  capabilities.sm_clocks = {Mhz(1980), Mhz(1410), Mhz(1005), Mhz(345)};
  capabilities.memory_clocks = {Mhz(3201), Mhz(2201)};
  return capabilities;
}

Rights bounded(Beyond beyond) {
  Rights rights;
  rights.sm_clock = Bounds{1000, 1700};
  rights.beyond = beyond;
  return rights;
}

Setting sm(double mhz) {
  return Setting{.sm_clock = Mhz(mhz)};
}

TEST(AllowList, DeniesWhoIsNotNamed) {
  const AllowList nothing;

  const auto rights = nothing.rights(user(1000, {1000}), kFirst);

  ASSERT_FALSE(rights.ok());
  EXPECT_EQ(rights.error().code, ErrorCode::kPermission);
  EXPECT_NE(rights.error().line().find("user 1000 may not change GPU-1; ask"), std::string::npos);
  EXPECT_FALSE(nothing.administrator(user(1000)));
}

TEST(AllowList, LeavesRootUnlimitedUnlessARuleNamesIt) {
  AllowList list;
  EXPECT_TRUE(list.administrator(user(0)));
  EXPECT_EQ(*list.rights(user(0), kFirst), unlimited_rights());

  list.rules.push_back({Subjects{{0}, {}, false}, {}, bounded(Beyond::kDeny)});

  EXPECT_EQ(*list.rights(user(0), kFirst), bounded(Beyond::kDeny));
}

TEST(AllowList, TakesTheFirstRuleThatNamesBothUserAndGpu) {
  AllowList list;
  Rights wide = bounded(Beyond::kClamp);
  wide.memory_clock = Bounds{2201, 3201};
  list.rules.push_back({Subjects{{}, {50}, false}, {kSecond}, wide});
  list.rules.push_back({Subjects{{1000}, {}, false}, {}, bounded(Beyond::kDeny)});

  EXPECT_EQ(*list.rights(user(1000, {50}), kFirst), bounded(Beyond::kDeny));
  EXPECT_EQ(*list.rights(user(1000, {50}), kSecond), wide);
  EXPECT_EQ(*list.rights(user(1001, {7, 50}), kSecond), wide) << "a supplementary group counts";
  EXPECT_FALSE(list.rights(user(1001, {50}), kFirst).ok());
}

TEST(AllowList, EveryoneIsEveryoneButNotAnAdministrator) {
  AllowList list;
  list.rules.push_back({Subjects{{}, {}, true}, {}, bounded(Beyond::kDeny)});

  EXPECT_TRUE(list.rights(user(4711), kFirst).ok());
  EXPECT_FALSE(list.administrator(user(4711)));
}

TEST(Permitted, LetsThroughWhatIsWithinBounds) {
  EXPECT_EQ(*permitted(sm(1410), bounded(Beyond::kDeny), {}, card()), sm(1410));
  EXPECT_EQ(*permitted({}, bounded(Beyond::kDeny), {}, card()), Setting{});
}

TEST(Permitted, DeniesWhatIsOutsideAndNamesTheBounds) {
  const auto setting = permitted(sm(345), bounded(Beyond::kDeny), {}, card());

  ASSERT_FALSE(setting.ok());
  EXPECT_EQ(setting.error().code, ErrorCode::kPermission);
  EXPECT_NE(setting.error().message.find("1000 to 1700 MHz"), std::string::npos);
}

TEST(Permitted, ClampsToAClockThatTheCardHas) {
  EXPECT_EQ(*permitted(sm(345), bounded(Beyond::kClamp), {}, card()), sm(1005));
  EXPECT_EQ(*permitted(sm(1980), bounded(Beyond::kClamp), {}, card()), sm(1410));
}

TEST(Permitted, DeniesWhereTheCardHasNoClockWithinTheBounds) {
  Rights rights = bounded(Beyond::kClamp);
  rights.sm_clock = Bounds{1500, 1600};

  EXPECT_FALSE(permitted(sm(1980), rights, {}, card()).ok());
}

TEST(Permitted, RefusesKnobsThatTheRuleDoesNotName) {
  const auto memory = permitted({.memory_clock = Mhz(2201)}, bounded(Beyond::kClamp), {}, card());
  const auto limit = permitted({.power_limit = Watts(300)}, bounded(Beyond::kClamp), {}, card());

  EXPECT_FALSE(memory.ok());
  ASSERT_FALSE(limit.ok());
  EXPECT_NE(limit.error().message.find("may not change limit"), std::string::npos);
}

TEST(Permitted, NobodyGetsAboveTheSitesOwnCap) {
  const Setting baseline{.power_limit = Watts(300)};
  Rights clamp = unlimited_rights();
  clamp.beyond = Beyond::kClamp;

  const auto denied = permitted({.power_limit = Watts(350)}, unlimited_rights(), baseline, card());
  const auto clamped = permitted({.power_limit = Watts(350)}, clamp, baseline, card());
  const auto below = permitted({.power_limit = Watts(250)}, unlimited_rights(), baseline, card());

  EXPECT_FALSE(denied.ok());
  EXPECT_EQ(clamped->power_limit, Watts(300));
  EXPECT_EQ(below->power_limit, Watts(250));
}

TEST(Permitted, RefusesNumbersThatAreNone) {
  for (const double nonsense : {0.0, -5.0, static_cast<double>(INFINITY), std::nan("")}) {
    EXPECT_FALSE(permitted(sm(nonsense), unlimited_rights(), {}, card()).ok()) << nonsense;
  }
}

}  // namespace
}  // namespace hypermile
