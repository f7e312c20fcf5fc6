// SPDX-License-Identifier: Apache-2.0
#include "trial/judge/truth.h"

#include <gtest/gtest.h>

#include <cmath>

#include "testing/made_curves.h"

namespace hypermile {
namespace {

// Ten points with time 1/y and power y^3. The least energy within 5 % is the lowest clock above
// 1/1.05.
Curve compute_bound() {
  return clock_curve([](double y) { return 1 / y; }, [](double y) { return y * y * y; }, 1000, 10);
}

TEST(Truth, TheBestPointIsTheLeastEnergyWithinTheBound) {
  const Curve curve = compute_bound();
  const std::size_t best = best_point(curve, Objective{});

  EXPECT_EQ(curve.points[best].setting.sm_clock, Mhz(960));
  EXPECT_NEAR(outcome_of(curve, best, Objective{}).saved(), 1 - 0.96 * 0.96, 1e-12);
}

TEST(Truth, ThePointExactlyAtTheBoundIsWithinIt) {
  Objective objective;
  objective.max_slowdown = 1 / 0.9 - 1;

  EXPECT_EQ(compute_bound().points[best_point(compute_bound(), objective)].setting.sm_clock,
            Mhz(900));
}

TEST(Truth, WithoutABoundTheGoalAloneDecidesAndABudgetExcludes) {
  Objective objective;
  objective.max_slowdown.reset();
  EXPECT_EQ(compute_bound().points[best_point(compute_bound(), objective)].setting.sm_clock,
            Mhz(400));

  objective.goal = Goal::kCost;  // with eta 0, only time counts
  objective.eta = 0;
  EXPECT_EQ(best_point(compute_bound(), objective), 0U);

  objective.power_budget = Watts(300 * 0.7 * 0.7 * 0.7 + 1);
  EXPECT_LE(compute_bound().points[best_point(compute_bound(), objective)].setting.sm_clock,
            Mhz(700));
}

TEST(Truth, ForPerformanceTheBestIsTheFastestThatSavesEnough) {
  const Objective objective = *parse_objective("performance:10%");
  const Curve curve = compute_bound();

  const std::size_t best = best_point(curve, objective);

  const double saved = outcome_of(curve, best, objective).saved();
  EXPECT_GE(saved, 0.10);
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    if (outcome_of(curve, i, objective).saved() < 0.10) continue;
    EXPECT_GE(curve.points[i].time, curve.points[best].time) << i;
  }
}

}  // namespace
}  // namespace hypermile
