// SPDX-License-Identifier: Apache-2.0
#include "agent/job_comment.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

TEST(JobCommentTest, SumsEnergyOverNodesAndTakesTheSlowest) {
  const std::map<NodeNumber, NodeTotals> totals = {{0, {60e3, 20e3, 0.01}}, {1, {60e3, 0.0, 0.03}}};

  EXPECT_EQ(
      comment_text("0", totals, 2),
      "hypermile: step 0: 120.0 kJ on 2 nodes, 14.3 % less than at the default, 3.0 % longer");
}

TEST(JobCommentTest, TellsNoSavingThatANodeDoesNotKnowAndNamesNodesThatAreMissing) {
  const std::map<NodeNumber, NodeTotals> totals = {{0, {60e3, 20e3, {}}}, {1, {60e3, {}, {}}}};

  EXPECT_EQ(comment_text("3", totals, 4), "hypermile: step 3: 120.0 kJ on 2 of 4 nodes");
}

TEST(JobCommentTest, LeavesAUsersCommentAlone) {
  EXPECT_TRUE(comment_is_ours("JobId=12 JobName=x Power="));
  EXPECT_TRUE(comment_is_ours("JobId=12 JobName=x Comment=hypermile: step 0: 1 kJ Power="));
  EXPECT_FALSE(comment_is_ours("JobId=12 JobName=x Comment=mine Power="));
  EXPECT_FALSE(comment_is_ours("")) << "nobody can be asked";
}

}  // namespace
}  // namespace hypermile
