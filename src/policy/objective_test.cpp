// SPDX-License-Identifier: Apache-2.0
#include "policy/objective.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

constexpr Watts kBoard(200);

TEST(Score, IsOneAtTheDefaultUnderEveryGoal) {
  for (const char* text :
       {"energy", "edp", "ed2p", "cost:0", "cost:0.4", "cost:1", "performance:5%"}) {
    Objective objective = *parse_objective(text);
    EXPECT_DOUBLE_EQ(score(objective, 1, 1, kBoard), 1) << text;

    objective.host_power = Watts(150);
    EXPECT_DOUBLE_EQ(score(objective, 1, 1, kBoard), 1) << text;
  }
}

TEST(Score, WeighsTimeMoreFromEnergyToEd2p) {
  EXPECT_DOUBLE_EQ(score(*parse_objective("energy"), 1.1, 0.8, kBoard), 0.88);
  EXPECT_DOUBLE_EQ(score(*parse_objective("edp"), 1.1, 0.8, kBoard), 0.968);
  EXPECT_DOUBLE_EQ(score(*parse_objective("ed2p"), 1.1, 0.8, kBoard), 1.0648);
}

TEST(Score, CostLiesBetweenTimeAloneAndEnergyAlone) {
  EXPECT_DOUBLE_EQ(score(*parse_objective("cost:0"), 1.1, 0.8, kBoard), 1.1);
  EXPECT_DOUBLE_EQ(score(*parse_objective("cost:1"), 1.1, 0.8, kBoard), 0.88);
  EXPECT_DOUBLE_EQ(score(*parse_objective("cost:0.5"), 1.1, 0.8, kBoard), 0.99);
}

TEST(Score, PerformancePrefersTheFastestThatSavesEnough) {
  const Objective objective = *parse_objective("performance:5%");
  const double fast = score(objective, 1.02, 0.92, kBoard);    // saves 6.2 %
  const double slow = score(objective, 1.30, 0.60, kBoard);    // saves 22 %
  const double dear = score(objective, 1.00, 0.97, kBoard);    // saves 3 %
  const double dearer = score(objective, 0.99, 1.00, kBoard);  // saves 1 %

  EXPECT_LT(fast, slow);
  EXPECT_LT(slow, dear);
  EXPECT_LT(dear, dearer);
  EXPECT_LT(dearer, 1);
  EXPECT_DOUBLE_EQ(saved_share(objective, 1.02, 0.92, kBoard), 1 - 1.02 * 0.92);
  EXPECT_EQ(to_string(objective), "performance:5%");
  EXPECT_FALSE(objective.max_slowdown);
  for (const char* bad : {"performance:0", "performance:100%", "performance:", "performance:x"}) {
    EXPECT_FALSE(parse_objective(bad)) << bad;
  }
}

TEST(Score, TheHostsPowerMakesSlowingDownDearer) {
  Objective with_host;
  with_host.host_power = Watts(200);  // as much as the board

  EXPECT_DOUBLE_EQ(score(with_host, 1.1, 0.8, kBoard), 1.1 * (0.8 + 1) / 2);
  EXPECT_GT(score(with_host, 1.1, 0.8, kBoard), score(Objective{}, 1.1, 0.8, kBoard));
}

TEST(Score, IgnoresTheHostWhereTheBoardsPowerIsUnknown) {
  Objective with_host;
  with_host.host_power = Watts(200);

  EXPECT_DOUBLE_EQ(score(with_host, 1.1, 0.8, Watts(0)), 0.88);
}

TEST(EffectiveBound, IsAtLeastWhatCanBeMeasured) {
  Objective objective;
  EXPECT_EQ(effective_bound(objective), 0.05);

  objective.max_slowdown = 0;
  EXPECT_EQ(effective_bound(objective), kNoMeasurableSlowdown);
  objective.max_slowdown.reset();
  EXPECT_EQ(effective_bound(objective), std::nullopt);
}

TEST(ParseObjective, OnlyEnergyComesWithABound) {
  EXPECT_TRUE(parse_objective("energy")->max_slowdown);
  for (const char* text : {"edp", "ed2p", "cost:0.7"}) {
    EXPECT_FALSE(parse_objective(text)->max_slowdown) << text;
  }
}

TEST(ParseObjective, IsWrittenAndReadBackUnchanged) {
  for (const char* text : {"energy", "edp", "ed2p", "cost:0.7", "cost:0", "cost:1"}) {
    EXPECT_EQ(to_string(*parse_objective(text)), text);
  }
}

TEST(ParseObjective, RefusesNonsenseInOneLineWithARemedy) {
  for (const char* text :
       {"", "enrgy", "cost", "cost:", "cost:2", "cost:-0.1", "cost:nan", "cost:0.5x", "EDP"}) {
    const auto parsed = parse_objective(text);

    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kUsage) << text;
    EXPECT_FALSE(parsed.error().remedy.empty()) << text;
  }
}

}  // namespace
}  // namespace hypermile
