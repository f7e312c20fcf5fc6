// SPDX-License-Identifier: Apache-2.0
#include "measure/energy_curve.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

Instant at(double seconds) {
  return Instant() + Seconds(seconds);
}

// 100 W in the first half of every second, 300 W in the second, every 20 ms.
std::vector<TimedPower> samples(double from, double to) {
  std::vector<TimedPower> out;
  for (int i = static_cast<int>(from * 50); i <= static_cast<int>(to * 50); ++i) {
    out.push_back({at(i * 0.02), Watts(i % 50 < 25 ? 100 : 300)});
  }
  return out;
}

std::vector<EnergyCounterStep> whole_seconds(int count) {
  std::vector<EnergyCounterStep> steps;
  for (int i = 0; i <= count; ++i) steps.push_back({at(i), Joules(1000 + 200.0 * i)});
  return steps;
}

TEST(EnergyCurve, IsExactAtStepsAndShapedByPowerInBetween) {
  const EnergyCurve curve(whole_seconds(3), samples(0, 3), {});

  EXPECT_NEAR(curve.at(at(2))->value(), 1400, 1e-9);
  EXPECT_NEAR(curve.at(at(1.5))->value(), 1200 + 50, 3);
  EXPECT_NEAR(curve.at(at(1.75))->value(), 1200 + 125, 3);
}

TEST(EnergyCurve, IsStraightWhereNoPowerIsKnown) {
  const EnergyCurve curve(whole_seconds(3), {}, {});

  EXPECT_NEAR(curve.at(at(1.5))->value(), 1300, 1e-9);
  EXPECT_FALSE(curve.disagreement(at(0), at(3)));
}

TEST(EnergyCurve, IsUnknownOutsideItsSteps) {
  const EnergyCurve curve(whole_seconds(3), samples(0, 5), {});

  EXPECT_FALSE(curve.at(at(3.1)));
  EXPECT_TRUE(curve.at(at(3)));
}

TEST(EnergyCurve, IntegratesPowerWithoutACounter) {
  const EnergyCurve curve({}, {}, samples(0, 3));

  EXPECT_FALSE(curve.counted());
  EXPECT_NEAR((*curve.at(at(3)) - *curve.at(at(1))).value(), 400, 1);
}

TEST(EnergyCurve, ComparesCounterAndIntegral) {
  std::vector<EnergyCounterStep> steps = whole_seconds(4);
  for (EnergyCounterStep& step : steps) step.energy = step.energy * 1.1;
  const EnergyCurve curve(steps, samples(0, 4), {});

  EXPECT_NEAR(*curve.disagreement(at(0), at(4)), 0.1, 0.01);
}

TEST(EnergyCurve, DoesNotShapeWithSamplesThatLeaveAHole) {
  std::vector<TimedPower> torn = samples(0, 1);
  for (const TimedPower& late : samples(2, 3)) torn.push_back(late);
  const EnergyCurve curve(whole_seconds(3), torn, {});

  EXPECT_NEAR(curve.at(at(1.5))->value(), 1300, 1e-9);
}

}  // namespace
}  // namespace hypermile
