// SPDX-License-Identifier: Apache-2.0
//
// The policy hypermile on curves with known answers: it does nothing where nothing can be saved,
// keeps the bound, and saves at least as much as it did when these floors were set.
#include <gtest/gtest.h>

#include <cmath>

#include "testing/made_curves.h"
#include "trial/judge/summary.h"
#include "trial/judge/tournament.h"

namespace hypermile {
namespace {

PolicySummary judge(const Curve& curve, const Conditions& conditions, std::size_t repeats) {
  const std::vector<std::string> policies = {"hypermile"};
  const auto runs = hold_tournament(std::span(&curve, 1), policies, repeats, conditions);
  EXPECT_TRUE(runs.ok());
  return summarise(*runs).front();
}

double share(std::size_t count, const PolicySummary& summary) {
  return static_cast<double>(count) / static_cast<double>(summary.runs);
}

TEST(HypermileReplay, LosesNothingWhereTimeAndPowerAreFlat) {
  const Curve flat = clock_curve([](double) { return 1.0; }, [](double) { return 1.0; });
  for (const double noise : {0.002, 0.01}) {
    Conditions conditions;
    conditions.time_noise = conditions.power_noise = noise;
    const PolicySummary summary = judge(flat, conditions, 100);

    EXPECT_LE(summary.mean_slowdown, 0.001) << noise;
    EXPECT_EQ(summary.losses, 0U) << noise;
    EXPECT_GE(summary.mean_saved, -0.002) << noise;
  }
}

TEST(HypermileReplay, ReturnsToTheDefaultWherePowerDoesNotFall) {
  const Curve stubborn = clock_curve([](double y) { return 1 / y; }, [](double) { return 1.0; });
  const PolicySummary summary = judge(stubborn, Conditions{}, 100);

  EXPECT_EQ(summary.ends_at_default, summary.runs);
  EXPECT_GE(summary.mean_saved, -0.003);
}

TEST(HypermileReplay, ReturnsToTheDefaultWherePowerRisesAsTheClockFalls) {
  const Curve perverse =
      clock_curve([](double y) { return 1 / y; }, [](double y) { return 1 + 0.3 * (1 - y); });
  const PolicySummary summary = judge(perverse, Conditions{}, 50);

  EXPECT_EQ(summary.ends_at_default, summary.runs);
  EXPECT_GE(summary.mean_saved, -0.004);
}

TEST(HypermileReplay, SavesMostOfWhatIsThereWithinTheBound) {
  const Curve typical = clock_curve([](double y) { return 0.5 + 0.5 / y; },
                                    [](double y) { return 0.35 + 0.65 * y * y * y; });
  const PolicySummary summary = judge(typical, Conditions{}, 60);

  EXPECT_GE(summary.share_of_oracle, 0.83);
  EXPECT_LE(share(summary.violations_final, summary), 0.05);
  EXPECT_LE(share(summary.violations_job, summary), 0.05);
  EXPECT_EQ(summary.violations_final_half_point, 0U);
}

// A job that slows down by itself must not be mistaken for a setting that is too slow.
TEST(HypermileReplay, ADriftingJobKeepsMostOfItsSaving) {
  const Curve typical = clock_curve([](double y) { return 0.5 + 0.5 / y; },
                                    [](double y) { return 0.35 + 0.65 * y * y * y; });
  Conditions drifting;
  drifting.drift = 0.02;
  drifting.time_noise = drifting.power_noise = 0.003;
  drifting.iterations = 10000;
  const PolicySummary summary = judge(typical, drifting, 40);

  EXPECT_GE(summary.share_of_oracle, 0.78);
  EXPECT_LE(share(summary.violations_final, summary), 0.05);
  EXPECT_LE(share(summary.violations_job, summary), 0.05);
}

TEST(HypermileReplay, WithoutNoiseItComesCloseToTheOracle) {
  const Curve typical = clock_curve([](double y) { return 0.6 + 0.4 / y; },
                                    [](double y) { return 0.3 + 0.7 * y * y; });
  Conditions quiet;
  quiet.time_noise = quiet.power_noise = 0;
  const PolicySummary summary = judge(typical, quiet, 1);

  EXPECT_GE(summary.share_of_oracle, 0.9);
  EXPECT_EQ(summary.violations_final, 0U);
}

TEST(HypermileReplay, WorksWithoutBeingToldTheLengthOfTheJob) {
  const Curve typical = clock_curve([](double y) { return 0.5 + 0.5 / y; },
                                    [](double y) { return 0.35 + 0.65 * y * y * y; });
  Conditions untold;
  untold.tell_length = false;
  const PolicySummary summary = judge(typical, untold, 40);

  EXPECT_GE(summary.share_of_oracle, 0.78);
  EXPECT_LE(share(summary.violations_final, summary), 0.05);
}

// The memory clock can be halved at no cost, and only then does a lower SM clock pay.
Curve two_knobs() {
  Curve curve = clock_curve([](double y) { return 0.3 + 0.7 / y; },
                            [](double y) { return 0.5 + 0.5 * y * y * y; }, 1400, 100);
  curve.default_values.memory_clock = Mhz(5000);
  const std::vector<CurvePoint> top = curve.points;
  for (const CurvePoint& point : top) {
    CurvePoint lower = point;
    lower.setting.memory_clock = Mhz(3000);
    lower.power = point.power * 0.8;
    lower.time = point.time * 1.005;
    curve.points.push_back(lower);
  }
  return curve;
}

TEST(HypermileReplay, LowersTheMemoryClockFirst) {
  const PolicySummary summary = judge(two_knobs(), Conditions{}, 40);

  EXPECT_GE(summary.share_of_oracle, 0.83);
  EXPECT_LE(share(summary.violations_final, summary), 0.05);
}

TEST(HypermileReplay, ADeepMemoryClockDoesNotBreakAShortJob) {
  Curve curve = two_knobs();
  for (CurvePoint& point : curve.points) {
    if (!point.setting.memory_clock) continue;
    point.setting.memory_clock = Mhz(500);
    point.time = point.time * 8;
  }
  Conditions brief;
  brief.iterations = 1000;
  const PolicySummary summary = judge(curve, brief, 40);

  // One look at it may cost such a short job more than it may lose; it is not repeated.
  EXPECT_LE(summary.violations_job, 1U);
  EXPECT_LE(summary.max_slowdown, 0.08);
}

TEST(HypermileReplay, KeepsAPowerBudgetThatTheDefaultBreaks) {
  const Curve curve = clock_curve([](double y) { return 0.9 + 0.1 / y; },
                                  [](double y) { return 0.2 + 0.8 * y * y; });
  Conditions capped;
  capped.objective.power_budget = Watts(220);
  const std::vector<std::string> policies = {"hypermile"};
  const auto runs = hold_tournament(std::span(&curve, 1), policies, 20, capped);

  ASSERT_TRUE(runs.ok());
  for (const RunResult& run : *runs) {
    for (const SettingShare& one : run.kept) {
      if (one.share < 0.1) continue;
      EXPECT_LE(find_point(curve, one.setting)->power, Watts(222));
    }
  }
}

TEST(HypermileReplay, SlowsDownForAGoalThatHasNoBound) {
  const Curve curve = clock_curve([](double y) { return 0.8 + 0.2 / y; },
                                  [](double y) { return 0.2 + 0.8 * y * y; });
  Conditions edp;
  edp.objective.goal = Goal::kEdp;
  edp.objective.max_slowdown.reset();
  const PolicySummary summary = judge(curve, edp, 20);

  EXPECT_GE(summary.share_of_oracle, 0.83);
}

}  // namespace
}  // namespace hypermile
