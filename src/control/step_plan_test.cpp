// SPDX-License-Identifier: Apache-2.0
#include "control/step_plan.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace hypermile {
namespace {

std::vector<double> scattered(double mean, double deviation, std::size_t count) {
  Random random(7);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(mean + deviation * random.gaussian());
  return values;
}

TEST(StepPlan, GivesTheSensorsTimeToMoveHoweverShortIterationsAre) {
  const StepPlan plan = plan_steps(std::vector<double>(100, 0.001));

  EXPECT_NEAR(plan.window_iterations, 2500, 1);
  EXPECT_NEAR(plan.settle_iterations, 501, 1);
}

TEST(StepPlan, TakesAFewOfTheLongestIterations) {
  EXPECT_EQ(plan_steps(std::vector<double>(5, 10.0)).window_iterations, 4);
}

TEST(StepPlan, LengthensWithTheScatterOfIterationsUpToALimit) {
  const StepPlan calm = plan_steps(scattered(0.1, 0.001, 400));
  const StepPlan uneven = plan_steps(scattered(0.1, 0.008, 400));
  const StepPlan wild = plan_steps(scattered(0.1, 0.03, 400));

  EXPECT_NEAR(calm.window_iterations, 25, 1);
  EXPECT_GT(uneven.window_iterations, 150);
  EXPECT_NEAR(wild.window_iterations, 300, 3);
}

TEST(StepPlan, LeavesPausesOutOfTheScatter) {
  std::vector<double> intervals(50, 0.1);
  intervals.push_back(3);

  const StepPlan plan = plan_steps(intervals);

  EXPECT_NEAR(plan.typical.value(), 0.1, 1e-12);
  EXPECT_NEAR(plan.window_iterations, 25, 1);
}

}  // namespace
}  // namespace hypermile
