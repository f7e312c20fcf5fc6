// SPDX-License-Identifier: Apache-2.0
#include "base/statistics.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

TEST(Statistics, NormalProbabilitiesAndQuantilesAreInverse) {
  for (const double p : {0.001, 0.1, 0.5, 0.9, 0.975, 0.999}) {
    EXPECT_NEAR(normal_cdf(normal_quantile(p)), p, 1e-12);
  }
  EXPECT_NEAR(normal_quantile(0.975), normal_half_width95(), 1e-12);
}

TEST(Statistics, StudentsTIsWideWithFewDegreesOfFreedomAndNormalWithMany) {
  EXPECT_NEAR(student_half_width95(1), 12.706, 1e-3);
  EXPECT_NEAR(student_half_width95(7), 2.365, 1e-3);
  EXPECT_NEAR(student_half_width95(1e6), normal_half_width95(), 1e-4);
}

TEST(Statistics, TheMedianIsTheUpperOneOfTwoMiddleValues) {
  EXPECT_EQ(upper_median({3}), 3);
  EXPECT_EQ(upper_median({9, 1, 5}), 5);
  EXPECT_EQ(upper_median({4, 1, 3, 2}), 3);
}

}  // namespace
}  // namespace hypermile
