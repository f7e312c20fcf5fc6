// SPDX-License-Identifier: Apache-2.0
#include "evidence/predict/grouped_mean.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hypermile {
namespace {

TEST(GroupedMean, IsOverRowsWithTheUsualStandardErrorWhereGroupsHaveOneRow) {
  GroupedMean mean;
  for (const char* group : {"a", "b", "c", "d"}) mean.add(group, group[0] - 'a');

  EXPECT_DOUBLE_EQ(mean.mean(), 1.5);
  EXPECT_DOUBLE_EQ(mean.standard_error(), std::sqrt(5.0 / 3 / 4));
}

TEST(GroupedMean, IsNoSurerWithMoreRowsOfTheSameGroups) {
  GroupedMean once;
  GroupedMean often;
  for (const char* group : {"a", "b", "c"}) {
    once.add(group, group[0] - 'a');
    for (int i = 0; i < 10; ++i) often.add(group, group[0] - 'a');
  }

  EXPECT_DOUBLE_EQ(often.mean(), once.mean());
  EXPECT_DOUBLE_EQ(often.standard_error(), once.standard_error());
}

TEST(GroupedMean, SaysNothingOfItsErrorWithOneGroup) {
  GroupedMean mean;
  EXPECT_EQ(mean.mean(), 0);
  mean.add("a", 2);
  mean.add("a", 4);

  EXPECT_EQ(mean.mean(), 3);
  EXPECT_EQ(mean.standard_error(), 0);
}

}  // namespace
}  // namespace hypermile
