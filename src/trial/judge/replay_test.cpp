// SPDX-License-Identifier: Apache-2.0
#include "trial/judge/replay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "testing/made_curves.h"

namespace hypermile {
namespace {

Curve compute_bound() {
  return clock_curve([](double y) { return 1 / y; }, [](double y) { return y * y * y; }, 1000, 100);
}

Conditions quiet(double iterations) {
  Conditions conditions;
  conditions.iterations = iterations;
  conditions.time_noise = 0;
  conditions.power_noise = 0;
  return conditions;
}

// Returns the given Steps, the last one forever, and records the windows that it sees.
class Scripted : public Policy {
 public:
  explicit Scripted(std::vector<Step> steps) : steps_(std::move(steps)) {}
  Step next() override { return steps_[std::min(at_++, steps_.size() - 1)]; }
  void observe(const Window& window) override { seen.push_back(window); }

  std::vector<Window> seen;

 private:
  std::vector<Step> steps_;
  std::size_t at_ = 0;
};

TEST(Replay, TheDefaultPolicySavesNothingAndTheOracleAllThereIs) {
  const Curve curve = clock_curve([](double y) { return 1 / y; }, [](double y) { return y * y; });
  const auto none = replay(curve, "default", 0, quiet(1000));
  const auto all = replay(curve, "oracle", 0, quiet(1000));

  ASSERT_TRUE(none.ok() && all.ok());
  EXPECT_NEAR(none->saved, 0, 1e-12);
  EXPECT_EQ(none->probes, 0U);
  EXPECT_NEAR(all->saved, all->oracle_saved, 1e-12);
  EXPECT_NEAR(all->final_saved, all->oracle_saved, 1e-12);
  EXPECT_FALSE(all->violated_job || all->violated_final);
}

TEST(Replay, TellsAfterHowManyIterationsASettingWasFirstHeld) {
  const Curve curve = compute_bound();
  Conditions conditions = quiet(1000);
  conditions.settle_iterations = 5;
  Scripted holding({{.setting = 0, .iterations = 30, .exploring = true},
                    {.setting = 1, .iterations = 30, .exploring = true},
                    {.setting = 2, .iterations = 30}});
  Scripted searching({{.setting = 1, .iterations = 30, .exploring = true}});

  EXPECT_EQ(replay(curve, holding, conditions, 1)->held_after, 70);  // two settled for 5 each
  EXPECT_FALSE(replay(curve, searching, conditions, 1)->held_after);
}

TEST(Replay, TheGuardKeepsTheJobWithinTheBoundUnderAnyPolicy) {
  Conditions conditions = quiet(2000);
  // A policy that measures the default once and then stays at a setting that is 11 % slower.
  const std::vector<Step> steps = {{.setting = 0, .iterations = 60, .exploring = true},
                                   {.setting = 1, .iterations = 30}};
  Scripted loose(steps);
  const auto unguarded = replay(compute_bound(), loose, conditions, 1);
  conditions.guard = true;
  Scripted guarded_policy(steps);
  const auto guarded = replay(compute_bound(), guarded_policy, conditions, 1);

  ASSERT_TRUE(unguarded.ok() && guarded.ok());
  EXPECT_TRUE(unguarded->violated_job);
  EXPECT_FALSE(guarded->violated_job) << guarded->slowdown;
  EXPECT_GT(guarded->slowdown, 0.02);
}

TEST(Replay, SettlingIterationsRunAtTheNewSettingAndAreNotMeasured) {
  // 30 iterations at the default, a probe of 30 at 800 MHz, and the rest at 900 MHz; 5 settle after
  // each change.
  Scripted policy(std::vector<Step>{{.setting = 0, .iterations = 30, .exploring = true},
                                    {.setting = 2, .iterations = 30, .exploring = true},
                                    {.setting = 1, .iterations = 30, .exploring = false}});
  const auto run = replay(compute_bound(), policy, quiet(100), 1);

  ASSERT_TRUE(run.ok());
  EXPECT_NEAR(run->slowdown, (30 + 35 / 0.8 + 35 / 0.9) / 100 - 1, 1e-12);
  EXPECT_NEAR(run->saved, 1 - (30 + 35 * 0.64 + 35 * 0.81) / 100, 1e-12);
  EXPECT_EQ(run->probes, 2U);
  EXPECT_EQ(run->settings_visited, 2U);
  EXPECT_EQ(run->kept.front().setting.sm_clock, Mhz(900));
  EXPECT_NEAR(run->final_slowdown, 1 / 0.9 - 1, 1e-12);
  EXPECT_TRUE(run->violated_job && run->violated_final && run->violated_final_half_point);
  ASSERT_EQ(policy.seen.size(), 3U);
  EXPECT_EQ(policy.seen[1].first_iteration, 35);
  EXPECT_EQ(policy.seen[2].iterations, 30);
}

TEST(Replay, AnAbortedWindowCostsOnlyTheIterationsItRan) {
  Scripted policy(std::vector<Step>{{.setting = 5,
                                     .iterations = 30,
                                     .exploring = true,
                                     .abort_above = Seconds(0.12),
                                     .abort_after = 8},
                                    {.setting = 0, .iterations = 30}});
  const auto run = replay(compute_bound(), policy, quiet(100), 1);

  ASSERT_TRUE(run.ok());
  ASSERT_TRUE(policy.seen.at(0).aborted);
  EXPECT_EQ(policy.seen[0].iterations, 8);
  EXPECT_EQ(run->aborts, 1U);
  EXPECT_NEAR(run->slowdown, (13 / 0.5 + 87) / 100 - 1, 1e-12);
}

TEST(Replay, AWindowBelowTheAbortThresholdRunsToItsEnd) {
  Scripted policy(
      std::vector<Step>{{.setting = 1, .iterations = 30, .abort_above = Seconds(0.12)}});
  ASSERT_TRUE(replay(compute_bound(), policy, quiet(60), 1).ok());

  EXPECT_FALSE(policy.seen.at(0).aborted);
  EXPECT_EQ(policy.seen[0].iterations, 30);
}

TEST(Replay, ShorterWindowsAreNoisierByTheRootOfTheirLength) {
  Conditions conditions = quiet(300000);
  conditions.time_noise = 0.01;
  for (const double length : {30.0, 8.0}) {
    Scripted policy(std::vector<Step>{{.setting = 0, .iterations = length}});
    ASSERT_TRUE(replay(compute_bound(), policy, conditions, 3).ok());

    double sum = 0;
    for (const Window& w : policy.seen) {
      const double off = w.time_per_iteration->value() / 0.1 - 1;
      sum += off * off;
    }
    const double expected = 0.01 * std::sqrt(30 / policy.seen[0].iterations);
    const auto n = static_cast<double>(policy.seen.size());
    EXPECT_NEAR(std::sqrt(sum / n), expected, 0.03 * expected);
  }
}

TEST(Replay, TheJobsOwnDriftCancelsInSlowdownAndSavingButShowsInTheWindows) {
  Conditions conditions = quiet(5000);
  conditions.drift = 0.1;
  Scripted policy(std::vector<Step>{{.setting = 1, .iterations = 30}});
  const auto run = replay(compute_bound(), policy, conditions, 1);

  ASSERT_TRUE(run.ok());
  EXPECT_NEAR(run->slowdown, 1 / 0.9 - 1, 1e-9);
  EXPECT_NEAR(run->saved, 1 - 0.81, 1e-9);
  double low = 1;
  double high = 0;
  for (const Window& w : policy.seen) {
    low = std::min(low, w.time_per_iteration->value());
    high = std::max(high, w.time_per_iteration->value());
  }
  EXPECT_NEAR(high / low, 1.1 / 0.9, 0.01);
}

TEST(Replay, ASettingOutsideTheListIsAnErrorNotACrash) {
  Scripted policy(std::vector<Step>{{.setting = 99}});

  EXPECT_EQ(replay(compute_bound(), policy, quiet(100), 1).error().code, ErrorCode::kInternal);
}

TEST(Replay, SillyWindowLengthsStillEndTheJob) {
  Scripted policy(std::vector<Step>{{.setting = 1, .iterations = std::nan("")},
                                    {.setting = 1, .iterations = -5},
                                    {.setting = 1, .iterations = 1e300}});
  const auto run = replay(compute_bound(), policy, quiet(100), 1);

  ASSERT_TRUE(run.ok());
  EXPECT_EQ(policy.seen.back().iterations, 93);
}

}  // namespace
}  // namespace hypermile
