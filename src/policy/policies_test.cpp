// SPDX-License-Identifier: Apache-2.0
#include "policy/policies.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

PolicyContext three_clocks() {
  PolicyContext context;
  context.settings = {Setting{}, Setting{.sm_clock = Mhz(1400)}, Setting{.sm_clock = Mhz(1300)},
                      Setting{.sm_clock = Mhz(1200)}};
  context.default_values.sm_clock = Mhz(1410);
  return context;
}

TEST(PolicyTable, EveryEntryHasASummaryAndEveryPlainNameCanBeMade) {
  for (const PolicyEntry& entry : policy_table()) {
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    if (entry.name == "oracle" || entry.name.starts_with("fixed:")) continue;
    PolicyContext context = three_clocks();
    context.traces = true;
    EXPECT_TRUE(make_policy(entry.name, context).ok()) << entry.name;
  }
}

TEST(PolicyTable, AnUnknownNameIsAUsageErrorWithTheNearestNames) {
  const auto made = make_policy("defualt", three_clocks());

  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::kUsage);
  EXPECT_NE(made.error().remedy.find("default"), std::string::npos);
}

TEST(FixedPolicy, TakesASettingOfTheListAndRefusesAnyOther) {
  const auto made = make_policy("fixed:sm=1300", three_clocks());

  ASSERT_TRUE(made.ok());
  EXPECT_EQ((*made)->next().setting, 2U);
  EXPECT_FALSE((*made)->next().exploring);
  EXPECT_EQ(make_policy("fixed:sm=1301", three_clocks()).error().code, ErrorCode::kUsage);
}

TEST(FixedPolicy, AShareTakesTheLowestSettingAtOrAboveIt) {
  EXPECT_EQ((*make_policy("fixed:90%", three_clocks()))->next().setting, 2U);
  EXPECT_EQ((*make_policy("fixed:100%", three_clocks()))->next().setting, 0U);
  EXPECT_FALSE(make_policy("fixed:0%", three_clocks()).ok());
}

TEST(OraclePolicy, IsRefusedWhereNobodyKnowsTheTruth) {
  PolicyContext context = three_clocks();
  EXPECT_EQ(make_policy("oracle", context).error().code, ErrorCode::kUsage);

  context.oracle = 3;
  EXPECT_EQ((*make_policy("oracle", context))->next().setting, 3U);
}

}  // namespace
}  // namespace hypermile
