// SPDX-License-Identifier: Apache-2.0
#include "policy/job_ledger.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace hypermile {
namespace {

constexpr double kWindow = 30;

Window window_of(double time, double power, double iterations = kWindow) {
  Window window;
  window.iterations = iterations;
  window.time_per_iteration = Seconds(time);
  window.power = Watts(power);
  return window;
}

// One window at a Setting, over iterations that take just as long as it says.
void run(JobLedger& ledger, std::size_t setting, double time, double power) {
  ledger.pass(setting != 0, kWindow, Seconds(time * kWindow));
  ledger.add(setting, window_of(time, power));
}

TEST(JobLedger, CountsWhatWasLostOffTheDefault) {
  JobLedger ledger(3, kWindow);
  run(ledger, 0, 0.1, 300);
  run(ledger, 0, 0.1, 300);
  run(ledger, 1, 0.11, 200);
  ledger.pass(true, 5, Seconds(5 * 0.11));  // settling counts too

  EXPECT_NEAR(ledger.lost(), 0.1 * 35, 1e-4);
  EXPECT_DOUBLE_EQ(ledger.done(), 95);
  EXPECT_DOUBLE_EQ(ledger.off(), 35);
}

TEST(JobLedger, ComparesEachSettingWithTheDefaultOfItsOwnTime) {
  JobLedger ledger(2, kWindow);
  // The job itself slows down by 5 % halfway, and the Setting costs 10 % before and after.
  for (const double pace : {0.1, 0.1, 0.105, 0.105}) {
    for (int i = 0; i < 3; ++i) run(ledger, 0, pace, 300);
    for (int i = 0; i < 3; ++i) run(ledger, 1, 1.1 * pace, 210);
  }
  const std::vector<SeenSetting> seen = ledger.seen();

  ASSERT_EQ(seen.size(), 1U);
  EXPECT_NEAR(std::exp(seen[0].log_time), 1.1, 0.01);
  EXPECT_NEAR(std::exp(seen[0].log_power), 0.7, 1e-4);
  EXPECT_NEAR(ledger.lost() / ledger.off(), 0.1, 0.01);
}

TEST(JobLedger, LearnsTheNoiseFromWindowsOfOneSetting) {
  JobLedger ledger(2, kWindow);
  Random random(5);
  for (int i = 0; i < 200; ++i) run(ledger, 0, 0.1 * (1 + 0.003 * random.gaussian()), 300);

  EXPECT_NEAR(ledger.time_noise(), 0.003, 0.0006);
  EXPECT_LT(ledger.power_noise(), 0.002);
}

TEST(JobLedger, IsSurerOfThePaceWithEveryWindowAtTheDefault) {
  JobLedger ledger(2, kWindow);
  Random random(5);
  for (int i = 0; i < 4; ++i) run(ledger, 0, 0.1 * (1 + 0.01 * random.gaussian()), 300);
  for (int i = 0; i < 4; ++i) run(ledger, 1, 0.104 * (1 + 0.01 * random.gaussian()), 250);

  EXPECT_LT(ledger.pace_error(1), ledger.pace_error());
  EXPECT_LT(ledger.pace_error(10), ledger.pace_error(1));
}

TEST(JobLedger, KnowsHowLongTheDefaultWasNotSeen) {
  JobLedger ledger(2, kWindow);
  run(ledger, 0, 0.1, 300);
  for (int i = 0; i < 5; ++i) run(ledger, 1, 0.11, 200);
  EXPECT_DOUBLE_EQ(ledger.since_default(), 5);

  for (int i = 0; i < 3; ++i) run(ledger, 0, 0.1, 300);
  EXPECT_DOUBLE_EQ(ledger.since_default(), 0) << "a long stay is one, too";
}

TEST(JobLedger, TakesAJumpOfTheJobForNoNoise) {
  JobLedger ledger(2, kWindow);
  run(ledger, 0, 0.1, 300);
  for (int i = 0; i < 40; ++i) run(ledger, 1, i < 20 ? 0.11 : 0.12, 200);

  EXPECT_LT(ledger.time_noise(), 0.005);
}

TEST(JobLedger, DoesNotGrowNoisyOverHoursOfSlowMinutes) {
  JobLedger ledger(2, kWindow);
  Random random(7);
  double slow = 1;
  for (int i = 0; i < 1500; ++i) {
    if (i % 40 == 0) slow = slow > 1 ? 1 : 1.03;
    const std::size_t setting = i % 20 == 0 ? 0 : 1;
    const double time = (setting == 0 ? 0.1 : 0.104) * slow;
    run(ledger, setting, time * (1 + 0.002 * random.gaussian()), 300);
  }

  EXPECT_NEAR(ledger.time_noise(), 0.002, 0.001);
  EXPECT_NEAR(ledger.lost() / ledger.off(), 0.04, 0.002);
  EXPECT_LT(ledger.pace_error(), 0.001);
}

TEST(JobLedger, ExpectsWhatTheDefaultWasWhenItWasSeenLast) {
  JobLedger ledger(2, kWindow);
  for (int i = 0; i < 10; ++i) {
    run(ledger, 0, 0.1, 300);
    run(ledger, 1, 0.104, 250);
  }
  for (int i = 0; i < 5; ++i) run(ledger, 1, 0.13, 200);

  EXPECT_NEAR(ledger.expected(0)->first.value(), 0.1, 0.001) << "so that a jump is noticed";
  EXPECT_NEAR(ledger.expected(0)->second.value(), 300, 3);
}

TEST(JobLedger, IgnoresWhatCannotBeUsedAndTakesWhatHeatHeldBack) {
  JobLedger ledger(2, kWindow);
  Window useless = window_of(0.1, 300);
  useless.unusable = "nothing seen";
  ledger.add(0, useless);
  EXPECT_FALSE(ledger.knows_default());

  useless.refusal = Refusal::kHeldBack;
  ledger.add(0, useless);
  EXPECT_TRUE(ledger.knows_default());
  ledger.add(1, window_of(NAN, 300));
  ledger.add(1, window_of(0.1, -1));
  ledger.add(7, window_of(0.1, 300));
  EXPECT_TRUE(ledger.seen().empty());
}

TEST(JobLedger, KeepsWhatWasLostWhenTheJobBeginsAnew) {
  JobLedger ledger(2, kWindow);
  run(ledger, 0, 0.1, 300);
  run(ledger, 1, 0.11, 200);
  const double lost = ledger.lost();

  ledger.begin_anew();
  EXPECT_FALSE(ledger.knows_default());
  EXPECT_NEAR(ledger.lost(), lost, 1e-9);
  run(ledger, 0, 0.2, 300);
  run(ledger, 1, 0.22, 200);
  EXPECT_NEAR(ledger.lost(), 2 * lost, 1e-9);
}

TEST(JobLedger, IsNoSurerOfWhatWasLostWhenTheJobBeginsAnew) {
  JobLedger ledger(2, kWindow);
  Random random(1);
  for (int i = 0; i < 10; ++i) {
    run(ledger, 0, 0.1 * (1 + 0.01 * random.gaussian()), 300);
    run(ledger, 1, 0.11 * (1 + 0.01 * random.gaussian()), 200);
  }
  const double error = ledger.lost_error();
  ASSERT_GT(error, 0);

  ledger.begin_anew();
  EXPECT_DOUBLE_EQ(ledger.lost_error(), error);
  EXPECT_GT(ledger.pace_error(), 0);
}

TEST(JobLedger, ForgetsASettingAndMovesTheOthersUp) {
  JobLedger ledger(4, kWindow);
  run(ledger, 0, 0.1, 300);
  for (const std::size_t setting : {1U, 2U, 3U}) {
    run(ledger, setting, 0.1 + 0.01 * static_cast<double>(setting), 300);
  }
  ledger.forget(2);

  const std::vector<SeenSetting> seen = ledger.seen();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_NEAR(std::exp(seen[1].log_time), 1.3, 1e-4);
  EXPECT_EQ(seen[1].setting, 2U);
}

TEST(JobLedger, StaysSmallAndRightOverALongJob) {
  JobLedger ledger(2, kWindow);
  for (int i = 0; i < 2000; ++i) {
    run(ledger, 0, 0.1, 300);
    run(ledger, 1, 0.105, 250);
  }
  EXPECT_NEAR(ledger.lost() / ledger.off(), 0.05, 1e-3);
  EXPECT_NEAR(ledger.windows_at(1), 2000, 1e-6);
}

}  // namespace
}  // namespace hypermile
