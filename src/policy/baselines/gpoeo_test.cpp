// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "testing/synthetic_job.h"

namespace hypermile {
namespace {

// What GPOEO minimises under "energy".
double reward(const SyntheticJob& job, std::size_t i) {
  return job.energy(i) * job.time[i] * job.time[i];
}

std::size_t best_reward(const SyntheticJob& job, double limit) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < job.time.size(); ++i) {
    if (job.slowdown(i) <= limit && reward(job, i) < reward(job, best)) best = i;
  }
  return best;
}

// A model that says that `best` is the one to keep.
void predict(SyntheticJob& job, std::size_t best) {
  job.context.predict = [best, count = job.context.settings.size()](const Window&) {
    std::vector<PredictedRatio> ratios(count, {0, 0.01, 0, 0.01});
    ratios[best].log_energy = -0.5;
    return ratios;
  };
}

TEST(Gpoeo, StartsAtThePredictedSettingOrNear86Percent) {
  SyntheticJob job = clock_job(0.5);
  EXPECT_EQ(play("gpoeo", job).probes[1].setting, 13U);  // 1215 of 1410 MHz

  predict(job, 20);
  EXPECT_EQ(play("gpoeo", job).probes[1].setting, 20U);
}

TEST(Gpoeo, StartsWhereAModelSaysOnceTheDefaultIsMeasured) {
  SyntheticJob job = clock_job(0.5);
  bool asked = false;
  job.context.predict = [&](const Window& baseline) {
    asked = baseline.setting.empty();
    // Half a point slower with each Setting, cheaper all the way: the tenth is the last within 5 %.
    std::vector<PredictedRatio> ratios;
    for (std::size_t i = 0; i < job.context.settings.size(); ++i) {
      const auto n = static_cast<double>(i);
      ratios.push_back({std::log1p(0.005 * n), 0.01, -0.01 * n, 0.01});
    }
    return ratios;
  };

  EXPECT_EQ(play("gpoeo", job).probes[1].setting, 10U);
  EXPECT_TRUE(asked);

  job.context.predict = [](const Window&) { return std::vector<PredictedRatio>(); };
  EXPECT_EQ(play("gpoeo", job).probes[1].setting, 13U);
}

TEST(Gpoeo, ReachesTheBestRewardNearbyFromEitherSide) {
  SyntheticJob job = clock_job(0.3);
  const std::size_t best = best_reward(job, 0.045);
  ASSERT_GT(best, 5U);
  for (const std::size_t off : {std::size_t{0}, std::size_t{4}, std::size_t{8}}) {
    for (const std::size_t start : {best + off, best - std::min(best, off)}) {
      predict(job, start);

      const std::size_t kept = play("gpoeo", job).kept;

      EXPECT_LE(job.slowdown(kept), 0.046) << start;
      EXPECT_LE(reward(job, kept), 1.01 * reward(job, best)) << start;
    }
  }
}

TEST(Gpoeo, ClimbsOutOfAPredictionThatIsFarTooSlow) {
  SyntheticJob job = clock_job(1.0);
  predict(job, job.context.settings.size() - 1);

  EXPECT_LE(job.slowdown(play("gpoeo", job).kept), 0.045);
}

// Found by fuzzing: the step down from a clock led to one of the same gear, for ever.
TEST(Gpoeo, ComesToAnEndWhereClocksLieCloserThanAGear) {
  SyntheticJob job;
  job.add({}, 1, 300);
  job.add({.sm_clock = Mhz(1400)}, 1, 299);
  job.add({.sm_clock = Mhz(1270)}, 1, 290);
  job.add({.sm_clock = Mhz(1269)}, 1, 289);
  job.add({.sm_clock = Mhz(1268)}, 1, 288);
  job.add({.sm_clock = Mhz(700)}, 1.6, 150);
  job.context.default_values.sm_clock = Mhz(1410);
  predict(job, 1);

  const std::size_t kept = play("gpoeo", job).kept;

  EXPECT_LT(kept, job.time.size());
}

TEST(Gpoeo, NeedsFewWindows) {
  SyntheticJob job = clock_job(0.5);
  predict(job, 10);

  EXPECT_LE(play("gpoeo", job).probes.size(), 1U + 1U + 4U + 6U);
}

TEST(Gpoeo, ComparesMemoryClocksAtThePredictedClockFirst) {
  SyntheticJob job = memory_job(0.15);
  predict(job, 1);  // 1700 MHz at the default's memory clock

  const Played played = play("gpoeo", job);

  EXPECT_EQ(played.probes[1].setting, 1U);
  EXPECT_EQ(played.probes[2].setting, 6U);  // the two memory clocks below, same SM clock
  EXPECT_EQ(played.probes[3].setting, 11U);
  EXPECT_EQ(job.context.settings[played.kept].memory_clock, Mhz(5001));
}

TEST(Gpoeo, GoesToHigherMemoryClocksWhenThePredictedOneIsTooSlow) {
  SyntheticJob job = memory_job(0.15);
  predict(job, 11);  // 1700 MHz at 810 MHz memory: 60 % too slow

  const Played played = play("gpoeo", job);

  EXPECT_EQ(played.probes[1].setting, 11U);
  EXPECT_EQ(played.probes[2].setting, 1U);  // two memory clocks higher, highest first
  EXPECT_LE(job.slowdown(played.kept), 0.05);
}

TEST(Gpoeo, SearchesAgainFromTheSettingKeptWhenPowerSpreads) {
  SyntheticJob job = clock_job(0.5);
  predict(job, 30);
  LedgeredPolicy policy(*make_policy("gpoeo", job.context), job.context);
  const std::size_t kept = play(policy, job, 30).kept;

  for (double& watts : job.power) watts *= 1.3;
  const Played again = play(policy, job, 30);

  ASSERT_GT(again.probes.size(), 1U);
  EXPECT_EQ(again.probes[0].setting, 0U);
  EXPECT_EQ(again.probes[1].setting, kept);
}

TEST(Gpoeo, GoesBackToThePredictionWhenPowerIsAnotherJobs) {
  SyntheticJob job = clock_job(0.5);
  predict(job, 30);
  LedgeredPolicy policy(*make_policy("gpoeo", job.context), job.context);
  play(policy, job, 30);

  for (double& watts : job.power) watts *= 2;
  const Played again = play(policy, job, 30);

  ASSERT_GT(again.probes.size(), 1U);
  EXPECT_EQ(again.probes[1].setting, 30U);
}

}  // namespace
}  // namespace hypermile
