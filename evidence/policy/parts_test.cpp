// SPDX-License-Identifier: Apache-2.0
#include "evidence/policy/parts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace hypermile {
namespace {

// Power falls with the clock to the power of 1.5; time grows as a third of the clock's fall.
Curve typical_curve() {
  Curve curve;
  curve.key = {"synthetic", "job", "", ""};
  curve.default_values.sm_clock = Mhz(1500);
  for (double clock = 1500; clock >= 750; clock -= 15) {
    CurvePoint point;
    if (clock < 1500) point.setting.sm_clock = Mhz(clock);
    point.time = Seconds(std::pow(1500 / clock, 0.33));
    point.power = Watts(300 * std::pow(clock / 1500, 1.5));
    curve.points.push_back(point);
  }
  return curve;
}

Conditions job_of(double iterations) {
  Conditions conditions;
  conditions.iterations = iterations;
  return conditions;
}

TEST(AblationRows, EachPlaysAJobToItsEnd) {
  for (const AblationRow& row : ablation_rows()) {
    const auto run = play_row(typical_curve(), row.name, 0, job_of(3000));
    ASSERT_TRUE(run) << row.name;
    EXPECT_EQ(run->policy, row.name);
    EXPECT_GT(run->saved, 0.01) << row.name;
  }
}

TEST(AblationRows, WithoutItsMarginTheJobTakesLonger) {
  const auto whole = play_row(typical_curve(), "whole", 0, job_of(3000));
  const auto bold =
      play_row(typical_curve(), "no margin for the error of the pace", 0, job_of(3000));
  ASSERT_TRUE(whole && bold);
  EXPECT_LT(whole->slowdown, bold->slowdown);
}

TEST(AblationRows, AnUnknownRowIsRefused) {
  EXPECT_FALSE(play_row(typical_curve(), "no such part", 0, job_of(3000)));
}

}  // namespace
}  // namespace hypermile
