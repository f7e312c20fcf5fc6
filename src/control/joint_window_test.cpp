// SPDX-License-Identifier: Apache-2.0
#include "control/joint_window.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

const Setting kSetting = {Mhz(1500)};

RankWindow rank(const char* gpu, double time_s, double watts) {
  RankWindow rank{GpuUuid(gpu), {}};
  Window& window = rank.window;
  window.setting = kSetting;
  window.begin = Instant() + Seconds(10);
  window.iterations = 30;
  window.duration = Seconds(30 * time_s);
  window.time_per_iteration = Seconds(time_s);
  window.time_error = 0.001;
  window.power = Watts(watts);
  window.power_error = 0.002;
  window.energy = Joules(watts * 30 * time_s);
  window.energy_per_iteration = Joules(watts * time_s);
  window.energy_error = 0.003;
  window.sm_clock = Mhz(1500);
  window.gpu_timed = true;
  return rank;
}

TEST(JointWindow, TheSlowestRankSetsThePace) {
  const RankWindow ranks[] = {rank("a", 0.1000, 200), rank("b", 0.1004, 250),
                              rank("c", 0.1001, 150)};

  const Window joint = join_windows(kSetting, ranks);

  EXPECT_TRUE(joint.usable()) << joint.unusable;
  EXPECT_EQ(joint.time_per_iteration, Seconds(0.1004));
  EXPECT_EQ(joint.setting, kSetting);
  EXPECT_EQ(joint.iterations, 30);
}

TEST(JointWindow, EnergyIsThatOfAllGpus) {
  const RankWindow ranks[] = {rank("a", 0.1, 200), rank("b", 0.1, 250)};

  const Window joint = join_windows(kSetting, ranks);

  EXPECT_EQ(joint.power, Watts(450));
  EXPECT_NEAR(joint.energy_per_iteration->value(), 45, 1e-9);
  EXPECT_NEAR(joint.energy->value(), 1350, 1e-9);
}

TEST(JointWindow, AGpuOfSeveralProcessesCountsOnceAsTheBestKnows) {
  RankWindow worse = rank("a", 0.1, 240);
  worse.window.power_error = 0.05;
  const RankWindow ranks[] = {worse, rank("a", 0.1, 200), rank("b", 0.1, 100)};

  const Window joint = join_windows(kSetting, ranks);

  EXPECT_EQ(joint.power, Watts(300));
}

TEST(JointWindow, ErrorsOfOneDisturbanceAddUp) {
  RankWindow noisy = rank("b", 0.1, 100);
  noisy.window.time_error = 0.004;
  noisy.window.power_error = 0.008;
  const RankWindow ranks[] = {rank("a", 0.1, 300), noisy};

  const Window joint = join_windows(kSetting, ranks);

  EXPECT_DOUBLE_EQ(*joint.time_error, 0.004);
  EXPECT_DOUBLE_EQ(*joint.power_error, (300 * 0.002 + 100 * 0.008) / 400);
}

TEST(JointWindow, WhatOneRankDoesNotKnowIsNotKnown) {
  RankWindow blind = rank("b", 0.1, 100);
  blind.window.power.reset();
  blind.window.energy_per_iteration.reset();
  blind.window.time_error.reset();
  blind.window.gpu_timed = false;
  const RankWindow ranks[] = {rank("a", 0.1, 300), blind};

  const Window joint = join_windows(kSetting, ranks);

  EXPECT_FALSE(joint.usable());
  EXPECT_FALSE(joint.power);
  EXPECT_FALSE(joint.energy_per_iteration);
  EXPECT_FALSE(joint.time_error);
  EXPECT_FALSE(joint.gpu_timed);
}

TEST(JointWindow, IsUnusableWhereARankIsAndNamesIt) {
  RankWindow bad = rank("b", 0.1, 100);
  bad.window.unusable = "throttled by heat";
  const RankWindow ranks[] = {rank("a", 0.1, 300), bad};

  const Window joint = join_windows(kSetting, ranks);

  EXPECT_EQ(joint.unusable, "b: throttled by heat");
}

TEST(JointWindow, IsHeldBackWhereNothingButHeatSpeaksAgainstIt) {
  RankWindow hot = rank("a", 0.1, 300);
  hot.window.unusable = "throttled";
  hot.window.refusal = Refusal::kHeldBack;
  RankWindow fast = rank("b", 0.1, 300);
  fast.window.unusable = "SM clock not reached";
  fast.window.refusal = Refusal::kClockNotReached;

  const RankWindow heat_alone[] = {hot, rank("b", 0.1, 300)};
  const RankWindow both[] = {hot, fast};

  EXPECT_TRUE(join_windows(kSetting, heat_alone).held_back());
  EXPECT_EQ(join_windows(kSetting, both).refusal, Refusal::kClockNotReached);
  EXPECT_EQ(join_windows(kSetting, both).unusable, "b: SM clock not reached");
}

TEST(JointWindow, RanksThatDoNotKeepPaceAreNotOneJob) {
  const RankWindow ranks[] = {rank("a", 0.100, 300), rank("b", 0.104, 300)};

  const Window joint = join_windows(kSetting, ranks);

  EXPECT_NE(joint.unusable.find("not one job"), std::string::npos) << joint.unusable;
}

TEST(JointWindow, NoisyRanksMayDifferByTheirNoise) {
  RankWindow noisy = rank("b", 0.104, 300);
  noisy.window.time_error = 0.02;
  const RankWindow ranks[] = {rank("a", 0.100, 300), noisy};

  const Window joint = join_windows(kSetting, ranks);

  EXPECT_TRUE(joint.usable()) << joint.unusable;
}

TEST(JointWindow, RanksMeasuredOneAfterTheOtherAreNotJoined) {
  RankWindow later = rank("b", 0.1, 300);
  later.window.begin = later.window.begin + Seconds(2);
  const RankWindow ranks[] = {rank("a", 0.1, 300), later};

  const Window joint = join_windows(kSetting, ranks);

  EXPECT_NE(joint.unusable.find("same time"), std::string::npos) << joint.unusable;
}

TEST(JointWindow, AWindowCutShortOnOneRankIsCutShort) {
  RankWindow cut = rank("b", 0.12, 300);
  cut.window.aborted = true;
  const RankWindow ranks[] = {rank("a", 0.1, 300), cut};

  const Window joint = join_windows(kSetting, ranks);

  EXPECT_TRUE(joint.aborted);
  EXPECT_TRUE(joint.usable()) << joint.unusable;
  EXPECT_EQ(joint.time_per_iteration, Seconds(0.12));
}

TEST(JointWindow, OneRankIsItself) {
  RankWindow only = rank("a", 0.1, 300);
  only.window.first_iteration = 120;
  only.window.throttled_share = 0.25;
  only.window.energy_disagreement = -0.01;
  const RankWindow ranks[] = {only};

  const Window joint = join_windows(kSetting, ranks);

  EXPECT_TRUE(joint.usable()) << joint.unusable;
  EXPECT_EQ(joint.power, only.window.power);
  EXPECT_DOUBLE_EQ(*joint.power_error, *only.window.power_error);
  EXPECT_EQ(joint.first_iteration, 120);
  EXPECT_EQ(joint.throttled_share, 0.25);
  EXPECT_DOUBLE_EQ(*joint.energy_disagreement, -0.01);
}

TEST(JointWindow, NoRankIsNoWindow) {
  EXPECT_FALSE(join_windows(kSetting, {}).usable());
}

}  // namespace
}  // namespace hypermile
