// SPDX-License-Identifier: Apache-2.0
#include "sweep/interpolate.h"

#include <gtest/gtest.h>

#include <sstream>

namespace hypermile {
namespace {

Curve curve_of(const std::string& rows, Mhz step) {
  std::istringstream in("gpu,workload,sm_mhz,mem_mhz,time_s,power_w,is_default\n" + rows);
  const auto file = read_sweep(in, "s.csv");
  EXPECT_TRUE(file.ok()) << file.error().line();
  return make_curves(*file, {.knobs = {}, .step = step}).curves.at(0);
}

TEST(Interpolate, FillsEveryStepFromTheDefaultDownToTheLowestMeasured) {
  const Curve curve = curve_of("g,w,1000,,1.0,200,1\ng,w,900,,1.2,150,0\n", Mhz(40));

  ASSERT_EQ(curve.points.size(), 3U);
  EXPECT_EQ(to_string(curve.points[1].setting), "sm=960MHz");
  EXPECT_NEAR(curve.points[1].time.value(), 1.08, 1e-12);
  EXPECT_NEAR(curve.points[1].power.value(), 180, 1e-12);
  EXPECT_NEAR(curve.points[2].time.value(), 1.16, 1e-12);
}

TEST(Interpolate, KeepsOtherKnobsApart) {
  const Curve curve = curve_of(
      "g,w,1000,900,1.0,200,1\n"
      "g,w,900,900,1.2,150,0\n"
      "g,w,1000,500,2.0,100,0\n"
      "g,w,900,500,2.2,90,0\n",
      Mhz(50));

  std::vector<std::string> settings;
  for (const CurvePoint& point : curve.points) settings.push_back(to_string(point.setting));
  EXPECT_EQ(settings,
            (std::vector<std::string>{"default", "sm=950MHz", "sm=900MHz", "sm=1000MHz mem=500MHz",
                                      "sm=950MHz mem=500MHz", "sm=900MHz mem=500MHz"}));
  EXPECT_NEAR(curve.points[4].time.value(), 2.1, 1e-12);
}

TEST(Interpolate, LeavesPointsAloneWhereTheDefaultClockIsUnknown) {
  const Curve curve = curve_of("g,w,,,1.0,200,1\ng,w,900,,1.2,150,0\n", Mhz(15));

  EXPECT_EQ(curve.points.size(), 2U);
  EXPECT_EQ(to_string(curve.points[1].setting), "sm=900MHz");
}

}  // namespace
}  // namespace hypermile
