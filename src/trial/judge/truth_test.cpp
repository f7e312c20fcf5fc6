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

TEST(Truth, APredictionIsNearTheBestPointAndInTheList) {
  const Curve curve = compute_bound();
  const std::size_t best = best_point(curve, Objective{});
  Random random(7);
  double sum = 0;
  for (int i = 0; i < 200; ++i) {
    const std::size_t guess = predicted_point(curve, best, 0.08, random);
    ASSERT_LT(guess, curve.points.size());
    const double off = curve.points[guess].setting.sm_clock.value_or(Mhz(1000)).value() - 960;
    sum += off * off;
  }

  // Guesses above the default are cut off there, so the spread is a little under 80 MHz.
  EXPECT_NEAR(std::sqrt(sum / 200), 62, 15);
}

}  // namespace
}  // namespace hypermile
