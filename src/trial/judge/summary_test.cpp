// SPDX-License-Identifier: Apache-2.0
#include "trial/judge/summary.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

RunResult run(const std::string& policy, const std::string& workload, double saved, double oracle) {
  RunResult result;
  result.policy = policy;
  result.key.workload = workload;
  result.saved = saved;
  result.final_saved = saved;
  result.oracle_saved = oracle;
  result.kept = {{{.sm_clock = Mhz(1000)}, 1}};
  return result;
}

TEST(Summary, TheShareIsMeanSavingOverMeanOracleSaving) {
  const std::vector<RunResult> runs = {run("a", "x", 0.1, 0.2), run("a", "y", 0.2, 0.2),
                                       run("b", "x", -0.01, 0.2)};
  const auto summaries = summarise(runs);

  ASSERT_EQ(summaries.size(), 2U);
  EXPECT_EQ(summaries[0].policy, "a");
  EXPECT_NEAR(summaries[0].share_of_oracle, 0.75, 1e-12);
  EXPECT_LE(summaries[0].share_interval.low, 0.75);
  EXPECT_GE(summaries[0].share_interval.high, 0.75);
  EXPECT_EQ(summaries[0].losses, 0U);
  EXPECT_EQ(summaries[1].losses, 1U);
}

TEST(Summary, TheFirstHoldIsTheMedianOfTheRunsThatHeld) {
  std::vector<RunResult> runs = {run("a", "x", 0, 0), run("a", "y", 0, 0), run("a", "z", 0, 0),
                                 run("a", "w", 0, 0)};
  runs[0].held_after = 700;
  runs[1].held_after = 300;
  runs[2].held_after = 400;

  EXPECT_EQ(summarise(runs).front().median_held_after, 400);
}

TEST(Summary, TheShareIsZeroWhereNothingCanBeSaved) {
  const std::vector<RunResult> runs = {run("a", "x", 0, 0)};

  EXPECT_EQ(summarise(runs).front().share_of_oracle, 0);
}

}  // namespace
}  // namespace hypermile
