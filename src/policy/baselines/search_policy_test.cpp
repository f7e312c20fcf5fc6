// SPDX-License-Identifier: Apache-2.0
#include "policy/baselines/search_policy.h"

#include <gtest/gtest.h>

#include "testing/synthetic_job.h"

namespace hypermile {
namespace {

// Measures the default and Setting 1, keeps 1; searches again whenever power exceeds 1 kW.
class TwoProbes : public SearchMethod {
 public:
  std::optional<std::size_t> search(Trials& trials) const override {
    if (!trials.measure(0, "baseline") || !trials.measure(1, "probe")) return std::nullopt;
    return 1;
  }
  bool changed(std::size_t, const Measured& window) override { return window.power > Watts(1000); }
};

Window good(double power = 200) {
  Window w;
  w.time_per_iteration = Seconds(0.1);
  w.power = Watts(power);
  return w;
}

Window bad() {
  Window w;
  w.unusable = "nothing seen";
  return w;
}

SearchPolicy two_probes() {
  return SearchPolicy(clock_job(0.5).context, std::make_unique<TwoProbes>());
}

void observe(SearchPolicy& policy, int windows, const Window& window) {
  for (int i = 0; i < windows; ++i) {
    policy.next();
    policy.observe(window);
  }
}

TEST(SearchPolicy, ProbesInOrderThenHoldsWhatTheSearchChose) {
  SearchPolicy policy = two_probes();

  EXPECT_EQ(policy.next().setting, 0U);
  EXPECT_TRUE(policy.next().exploring);
  policy.observe(good());
  EXPECT_EQ(policy.next().setting, 1U);
  EXPECT_TRUE(policy.next().exploring);
  policy.observe(good());

  EXPECT_EQ(policy.next().setting, 1U);
  EXPECT_FALSE(policy.next().exploring);
}

TEST(SearchPolicy, TakesABadWindowAgain) {
  SearchPolicy policy = two_probes();
  observe(policy, 1, good());

  observe(policy, 2, bad());

  EXPECT_EQ(policy.next().setting, 1U);
  EXPECT_TRUE(policy.next().exploring);
}

TEST(SearchPolicy, RunsAtTheDefaultWhileNothingCanBeMeasuredAndResumesAfter) {
  SearchPolicy policy = two_probes();
  observe(policy, 1, good());

  observe(policy, 3, bad());
  EXPECT_EQ(policy.next().setting, 0U);
  EXPECT_FALSE(policy.next().exploring);

  observe(policy, 1, good());
  EXPECT_EQ(policy.next().setting, 1U);
  EXPECT_TRUE(policy.next().exploring);
}

TEST(SearchPolicy, GivesUpForGoodAfterThreeBlindSpells) {
  SearchPolicy policy = two_probes();
  observe(policy, 1, good());

  for (int spell = 0; spell < 3; ++spell) {
    observe(policy, 3, bad());
    observe(policy, 1, good());
  }
  observe(policy, 10, good(5000));

  EXPECT_EQ(policy.next().setting, 0U);
  EXPECT_FALSE(policy.next().exploring);
}

TEST(SearchPolicy, LeavesTheSettingKeptWhileBlindAndComesBack) {
  SearchPolicy policy = two_probes();
  observe(policy, 2, good());

  observe(policy, 3, bad());
  EXPECT_EQ(policy.next().setting, 0U);

  observe(policy, 1, good());
  EXPECT_EQ(policy.next().setting, 1U);
  EXPECT_FALSE(policy.next().exploring);
}

TEST(SearchPolicy, SearchesAgainWhenTheMethodSaysTheJobHasChanged) {
  SearchPolicy policy = two_probes();
  observe(policy, 2, good());

  observe(policy, 1, good(2000));

  EXPECT_EQ(policy.next().setting, 0U);
  EXPECT_TRUE(policy.next().exploring);
}

TEST(SearchPolicy, HoldsTheDefaultWhereThereIsNothingToChoose) {
  PolicyContext context;
  context.settings = {Setting{}};
  SearchPolicy policy(context, std::make_unique<TwoProbes>());

  EXPECT_EQ(policy.next().setting, 0U);
  EXPECT_FALSE(policy.next().exploring);
}

}  // namespace
}  // namespace hypermile
