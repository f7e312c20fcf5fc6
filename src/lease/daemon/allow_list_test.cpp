// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/allow_list.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hypermile {
namespace {

const GpuUuid kFirst("GPU-1");
const GpuUuid kSecond("GPU-2");

Peer user(uid_t uid, std::vector<gid_t> groups = {}) {
  return Peer{uid, std::move(groups), 1, false};
}

Peer root() {
  return Peer{0, {0}, 1, true};
}

Rights bounded(double most) {
  Rights rights;
  rights.bounds.sm_clock = KnobRange{1000, most};
  return rights;
}

double most(const Result<Rights>& rights) {
  return rights.ok() && rights->bounds.sm_clock ? rights->bounds.sm_clock->max : 0;
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
  EXPECT_TRUE(list.administrator(root()));
  EXPECT_TRUE(std::isinf(most(list.rights(root(), kFirst))));

  list.rules.push_back({Subjects{{0}, {}, false}, {}, bounded(1700)});

  EXPECT_EQ(most(list.rights(root(), kFirst)), 1700);
}

TEST(AllowList, TreatsRootOfAContainerLikeAnybody) {
  const AllowList nothing;

  EXPECT_FALSE(nothing.administrator(user(0)));
  EXPECT_FALSE(nothing.rights(user(0), kFirst).ok());
}

TEST(AllowList, TakesTheFirstRuleThatNamesBothUserAndGpu) {
  AllowList list;
  list.rules.push_back({Subjects{{}, {50}, false}, {kSecond}, bounded(1900)});
  list.rules.push_back({Subjects{{1000}, {}, false}, {}, bounded(1700)});

  EXPECT_EQ(most(list.rights(user(1000, {50}), kFirst)), 1700);
  EXPECT_EQ(most(list.rights(user(1000, {50}), kSecond)), 1900);
  EXPECT_EQ(most(list.rights(user(1001, {7, 50}), kSecond)), 1900) << "supplementary groups count";
  EXPECT_FALSE(list.rights(user(1001, {50}), kFirst).ok());
}

TEST(AllowList, EveryoneIsEveryoneButNotAnAdministrator) {
  AllowList list;
  list.rules.push_back({Subjects{{}, {}, true}, {}, bounded(1700)});

  EXPECT_TRUE(list.rights(user(4711), kFirst).ok());
  EXPECT_FALSE(list.administrator(user(4711)));
}

TEST(Capped, NobodyGetsAboveTheSitesOwnCap) {
  Bounds bounds = unlimited_rights().bounds;
  bounds.sm_clock = KnobRange{1000, 1700};

  const Bounds result = capped(bounds, {.sm_clock = Mhz(1500), .power_limit = Watts(300)});

  EXPECT_EQ(result.sm_clock, (KnobRange{1000, 1500}));
  EXPECT_EQ(result.power_limit, (KnobRange{0, 300}));
  EXPECT_EQ(result.memory_clock, bounds.memory_clock) << "no baseline, no cap";
}

TEST(Capped, AKnobThatCouldOnlyGoAboveTheCapMayNotBeMoved) {
  Bounds bounds;
  bounds.power_limit = KnobRange{310, 400};

  EXPECT_FALSE(capped(bounds, {.power_limit = Watts(300)}).power_limit.has_value());
}

}  // namespace
}  // namespace hypermile
