// SPDX-License-Identifier: Apache-2.0
//
// The policy "hypermile" on made-up jobs, with the ledger that the Controller would keep.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "testing/synthetic_job.h"

namespace hypermile {
namespace {

TEST(HypermilePolicy, SavesMoreThanTheBestSingleSettingOnACoarseGrid) {
  SyntheticJob job = clock_job(0.6);
  // One clock in ten is left: no single one comes near the bound.
  SyntheticJob coarse;
  coarse.context = job.context;
  coarse.context.settings.clear();
  for (std::size_t i = 0; i < job.time.size(); i += 10) {
    coarse.add(job.context.settings[i], job.time[i], job.power[i]);
  }
  const Played played = play("hypermile", coarse, 700, 0.005);
  const double single = coarse.energy(coarse.best(0.05)) / coarse.energy(0);

  EXPECT_LE(played.time, 1.05);
  EXPECT_LT(played.energy, single);
}

TEST(HypermilePolicy, KeepsTheBoundOfTheWholeJobAtEveryLength) {
  for (const double compute : {0.1, 0.5, 0.9}) {
    for (const int windows : {33, 167, 667}) {
      const Played played = play("hypermile", clock_job(compute), windows, 0.01);
      EXPECT_LE(played.time, 1.0505) << compute << " " << windows;
      EXPECT_LT(played.energy, 1) << compute << " " << windows;
    }
  }
}

TEST(HypermilePolicy, WastesLessOfALongerJob) {
  const SyntheticJob job = clock_job(0.5);
  EXPECT_LT(play("hypermile", job, 667, 0.01).energy, play("hypermile", job, 67, 0.01).energy);
}

TEST(HypermilePolicy, FindsALowerMemoryClockThatCostsLittleAndNeverStaysAtATerribleOne) {
  const SyntheticJob job = memory_job(0.2);
  LedgeredPolicy policy(*make_policy("hypermile", job.context), job.context, 20000);
  Random random(4);
  std::vector<int> terrible(job.time.size());
  std::set<std::size_t> held;
  for (int i = 0; i < 600; ++i) {
    const Step step = policy.next();
    if (job.slowdown(step.setting) > 0.5) ++terrible[step.setting];
    if (!step.exploring && i > 300) held.insert(step.setting);
    policy.observe(job.window(step.setting, 0.005, random));
  }
  EXPECT_LE(std::ranges::max(terrible), 1);
  EXPECT_TRUE(std::ranges::any_of(held, [&](std::size_t setting) {
    return job.context.settings[setting].memory_clock == Mhz(5001);
  }));
}

TEST(HypermilePolicy, StaysAtTheDefaultWhereNothingIsSaved) {
  SyntheticJob job = clock_job(0.9);
  for (double& power : job.power) power = 300;
  LedgeredPolicy policy(*make_policy("hypermile", job.context), job.context, 6000);
  const Played played = play(policy, job, 200, 0.003);

  EXPECT_EQ(played.kept, 0U);
  EXPECT_LT(played.energy, 1.01);  // what its looks cost
}

TEST(HypermilePolicy, ReturnsToTheDefaultForGoodWhenTheJobHasNoTimeLeftToLose) {
  const SyntheticJob job = clock_job(0.5);
  JobLedger ledger(job.context.settings.size(), 30);
  const auto policy = *make_policy("hypermile", job.context);
  Random random(2);
  for (int i = 0; i < 3; ++i) {
    ledger.pass(false, 30, Seconds(3));
    ledger.add(0, job.window(0, 0.001, random));
  }
  ledger.pass(true, 500, Seconds(80));  // 300 iterations were lost
  ledger.set_job(5000, 5000);
  policy->account(ledger);

  const Step step = policy->next();
  EXPECT_EQ(step.setting, 0U);
  EXPECT_FALSE(step.exploring);
  EXPECT_LT(step.confidence, 0.5);
}

TEST(HypermilePolicy, KeepsOneSettingWhereTheUserWantsOne) {
  SyntheticJob job = clock_job(0.5);
  job.context.steady = true;
  LedgeredPolicy policy(*make_policy("hypermile", job.context), job.context, 20000);
  play(policy, job, 300, 0.003);
  std::set<std::size_t> held;
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const Step step = policy.next();
    if (!step.exploring && step.setting != 0) held.insert(step.setting);
    policy.observe(job.window(step.setting, 0.003, random));
  }
  EXPECT_LE(held.size(), 2U);
  for (const std::size_t setting : held) EXPECT_LE(job.slowdown(setting), 0.052);
}

TEST(HypermilePolicy, SaysWhatItSharesTheTimeBetween) {
  const SyntheticJob job = limit_job();
  LedgeredPolicy policy(*make_policy("hypermile", job.context), job.context, 20000);
  Random random(1);
  Step last;
  for (int i = 0; i < 300; ++i) {
    const Step step = policy.next();
    if (!step.exploring) last = step;
    policy.observe(job.window(step.setting, 0.003, random));
  }
  double sum = 0;
  for (const StepShare& one : last.shares) sum += one.share;
  EXPECT_GE(last.shares.size(), 2U);
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(HypermilePolicy, LeavesASettingAloneThatCannotBeMeasured) {
  const SyntheticJob job = clock_job(0.5);
  LedgeredPolicy policy(*make_policy("hypermile", job.context), job.context, 20000);
  Random random(1);
  std::vector<int> tries(job.time.size());
  for (int i = 0; i < 200; ++i) {
    const Step step = policy.next();
    Window window = job.window(step.setting, 0.003, random);
    if (step.setting != 0) {
      ++tries[step.setting];
      window.unusable = "the clock was not reached";
    }
    policy.observe(window);
  }
  EXPECT_LE(std::ranges::max(tries), 3);
}

TEST(HypermilePolicy, MinimisesTheProductOfEnergyAndTimeWhereAsked) {
  SyntheticJob job = clock_job(0.5);
  job.context.objective = *parse_objective("edp");
  job.context.objective.max_slowdown.reset();
  double best = 1;
  for (std::size_t i = 0; i < job.time.size(); ++i) {
    best = std::min(best, job.energy(i) / job.energy(0) * job.time[i]);
  }
  const Played played = play("hypermile", job, 500, 0.003);

  EXPECT_LT(played.energy * played.time, 1 - 0.9 * (1 - best));
}

TEST(HypermilePolicy, StaysBelowAPowerBudget) {
  SyntheticJob job = clock_job(0.5);
  job.context.objective.power_budget = Watts(250);
  const Played played = play("hypermile", job, 400, 0.003);

  EXPECT_LE(job.power[played.kept], 252);
}

}  // namespace
}  // namespace hypermile
