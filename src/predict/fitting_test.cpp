// SPDX-License-Identifier: Apache-2.0
//
// The two ways to fit one relation: trees and the linear form.
#include <gtest/gtest.h>

#include <cmath>

#include "predict/boosting.h"
#include "predict/ridge.h"

namespace hypermile {
namespace {

Inputs with_dram(std::optional<double> dram) {
  Features features;
  features.set(Feature::kDramActive, dram);
  return inputs_of(features, {0.8, 1, {}});
}

BoostingRows step_rows() {
  BoostingRows rows;
  for (int i = 0; i < 100; ++i) {
    rows.inputs.push_back(with_dram(i / 100.0));
    rows.targets.push_back(i < 50 ? 0.9F : 0.1F);
    rows.weights.push_back(1);
  }
  return rows;
}

TEST(Boosting, FindsAStep) {
  const auto forest = boost(step_rows(), {});

  ASSERT_TRUE(forest) << forest.error().line();
  EXPECT_NEAR(forest->value(with_dram(0.2)), 0.9, 0.02);
  EXPECT_NEAR(forest->value(with_dram(0.8)), 0.1, 0.02);
}

TEST(Boosting, LearnsWhereAMissingFeatureBelongs) {
  BoostingRows rows = step_rows();
  for (int i = 0; i < 30; ++i) {
    rows.inputs.push_back(with_dram(std::nullopt));
    rows.targets.push_back(0.1F);
    rows.weights.push_back(1);
  }

  const auto forest = boost(rows, {});

  ASSERT_TRUE(forest);
  EXPECT_NEAR(forest->value(with_dram(std::nullopt)), 0.1, 0.05);
}

TEST(Boosting, RepeatsExactlyAndBearsConstantColumns) {
  BoostingRows rows = step_rows();
  for (float& target : rows.targets) target = 0.3F;

  const auto a = boost(rows, {});
  const auto b = boost(rows, {});

  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->value(with_dram(0.2)), b->value(with_dram(0.2)));
  EXPECT_NEAR(a->value(with_dram(0.2)), 0.3, 0.01);
}

TEST(Boosting, RefusesToTrainWithoutRows) {
  EXPECT_FALSE(boost({}, {}));
}

TEST(Forest, RefusesTreesThatWouldNotEnd) {
  Forest loop;
  loop.trees.push_back({TreeNode{0, 0.5F, 0, false}, TreeNode{}, TreeNode{}});
  Forest outside;
  outside.trees.push_back({TreeNode{0, 0.5F, 7, false}, TreeNode{}, TreeNode{}});
  Forest unknown_input;
  unknown_input.trees.push_back({TreeNode{999, 0.5F, 1, false}, TreeNode{}, TreeNode{}});

  EXPECT_FALSE(check(loop));
  EXPECT_FALSE(check(outside));
  EXPECT_FALSE(check(unknown_input));
  EXPECT_TRUE(check(Forest{}));
}

TEST(Ridge, FollowsALinearRuleAndFallsBackToTheMean) {
  std::vector<RidgeRow> rows;
  for (int i = 0; i < 100; ++i) {
    rows.push_back({with_dram(i / 100.0), 0.25, 1 - i / 100.0, 1});
  }

  const Ridge ridge = fit_ridge(rows);

  EXPECT_NEAR(ridge.value(with_dram(0.3), 0.25), 0.7, 0.05);
  EXPECT_NEAR(ridge.value(with_dram(std::nullopt), 0.25), 0.5, 0.05);
}

TEST(Ridge, FittedToNoRowsIsZero) {
  const Ridge ridge = fit_ridge({});

  EXPECT_TRUE(check(ridge));
  EXPECT_EQ(ridge.value(with_dram(0.3), 0.25), 0);
}

}  // namespace
}  // namespace hypermile
