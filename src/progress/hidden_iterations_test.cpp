// SPDX-License-Identifier: Apache-2.0
#include "progress/hidden_iterations.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

TEST(HiddenIterations, CountsWhatEveryKernelShows) {
  EXPECT_EQ(hidden_iterations({{1, 3}, {2, 6}, {4, 12}}), 3);
}

// 32 evaluation batches launch the forward pass once more each.
TEST(HiddenIterations, IgnoresWhatAnEvaluationAdds) {
  EXPECT_EQ(hidden_iterations({{1, 33}, {2, 66}, {1, 1}, {3, 3}}), 1);
  EXPECT_EQ(hidden_iterations({{1, 32}, {2, 64}, {1, 0}, {3, 0}}), 0);
}

TEST(HiddenIterations, KernelsThatFewIterationsLaunchDoNotCount) {
  EXPECT_EQ(hidden_iterations({{1, 5}, {0.125, 0}, {0.125, 1}}), 5);
}

TEST(HiddenIterations, APatternOfRareKernelsTellsNothing) {
  EXPECT_EQ(hidden_iterations({}), 0);
  EXPECT_EQ(hidden_iterations({{0.5, 10}}), 0);
}

}  // namespace
}  // namespace hypermile
