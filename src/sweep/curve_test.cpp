// SPDX-License-Identifier: Apache-2.0
#include "sweep/curve.h"

#include <gtest/gtest.h>

#include <sstream>

namespace hypermile {
namespace {

CurveSet curves(const std::string& rows, const CurveOptions& options = {}) {
  std::istringstream in(
      "gpu,workload,phase_or_kernel,sm_mhz,mem_mhz,power_limit_w,time_s,power_w,"
      "is_default,batch_size\n" +
      rows);
  const auto file = read_sweep(in, "s.csv");
  EXPECT_TRUE(file.ok()) << file.error().line();
  return make_curves(*file, options);
}

std::vector<std::string> settings(const Curve& curve) {
  std::vector<std::string> out;
  for (const CurvePoint& point : curve.points) out.push_back(to_string(point.setting));
  return out;
}

using Names = std::vector<std::string>;

TEST(MakeCurves, PutsTheDefaultFirstAndLeavesOutKnobsAtTheirDefaultValue) {
  const CurveSet set = curves(
      "g,w,p,900,877,,1.4,100,0,\n"
      "g,w,p,1380,877,,1.0,200,1,\n"
      "g,w,p,1200,877,,1.1,150,0,\n");

  ASSERT_EQ(set.curves.size(), 1U);
  EXPECT_EQ(settings(set.curves[0]), (Names{"default", "sm=1200MHz", "sm=900MHz"}));
  EXPECT_EQ(set.curves[0].default_point().power, Watts(200));
}

TEST(MakeCurves, AveragesRepeatsAndSeveralDefaultsAndCountsThem) {
  const CurveSet set = curves(
      "g,w,p,1000,,,1.0,100,1,\n"
      "g,w,p,1000,,,1.2,120,1,\n"
      "g,w,p,800,,,1.3,80,0,\n"
      "g,w,p,800,,,1.5,90,0,\n");

  ASSERT_EQ(set.curves.size(), 1U);
  EXPECT_NEAR(set.curves[0].default_point().time.value(), 1.1, 1e-12);
  EXPECT_NEAR(set.curves[0].points[1].power.value(), 85, 1e-12);
  EXPECT_EQ(set.quirks.repeats_averaged, 1U);
  EXPECT_EQ(set.quirks.defaults_averaged, 1U);
}

TEST(MakeCurves, KeepsOnlySettingsBetweenFloorAndDefault) {
  const CurveSet set = curves(
      "g,w,p,1000,,,1,100,1,\n"
      "g,w,p,1100,,,0.9,120,0,\n"
      "g,w,p,400,,,2,60,0,\n"
      "g,w,p,399,,,2.1,60,0,\n");

  EXPECT_EQ(settings(set.curves.at(0)), (Names{"default", "sm=400MHz"}));
  EXPECT_EQ(set.quirks.above_default, 1U);
  EXPECT_EQ(set.quirks.below_floor, 1U);
}

TEST(MakeCurves, KeepsEveryClockWhereTheDefaultsIsUnknownDownToTheFloor) {
  const CurveSet set = curves(
      "g,w,p,,,,1,300,1,\n"
      "g,w,p,1950,9501,,1,310,0,\n"
      "g,w,p,630,9501,,2,150,0,\n");

  EXPECT_EQ(settings(set.curves.at(0)), (Names{"default", "sm=1950MHz mem=9501MHz"}));
}

TEST(MakeCurves, DropsRowsThatMoveAKnobNobodyAskedFor) {
  const std::string rows =
      "g,w,p,1410,,300,1,250,1,\n"
      "g,w,p,1410,,200,1.2,190,0,\n"
      "g,w,p,1200,,300,1.1,220,0,\n"
      "g,w,p,1200,,200,1.2,190,0,\n";

  const CurveSet sm = curves(rows, {.knobs = {Knob::kSmClock}, .step = {}});
  const CurveSet limit = curves(rows, {.knobs = {Knob::kPowerLimit}, .step = {}});

  EXPECT_EQ(settings(sm.curves.at(0)), (Names{"default", "sm=1200MHz"}));
  EXPECT_EQ(settings(limit.curves.at(0)), (Names{"default", "limit=200W"}));
  EXPECT_EQ(sm.quirks.other_knobs, 2U);
}

TEST(MakeCurves, SplitsByIdentityAndCountsCurvesItCannotUse) {
  const CurveSet set = curves(
      "g,w,p,1000,,,1,100,1,32\n"
      "g,w,p,800,,,1.1,80,0,32\n"
      "g,w,p,800,,,1.1,80,0,64\n"
      "g,v,p,1000,,,1,100,1,\n");

  EXPECT_EQ(set.curves.size(), 1U);
  EXPECT_EQ(set.quirks.curves_without_default, 1U);
  EXPECT_EQ(set.quirks.curves_without_choice, 1U);
}

TEST(FindCurve, AcceptsWorkloadsWithSlashesAndOptionalPhase) {
  const CurveSet set = curves(
      "g,net/data,train,1000,,,1,100,1,\n"
      "g,net/data,train,800,,,1.1,80,0,\n");

  EXPECT_TRUE(find_curve(set.curves, "g/net/data").ok());
  EXPECT_TRUE(find_curve(set.curves, "g/net/data/train").ok());
  EXPECT_EQ(find_curve(set.curves, "g/net/date").error().line(),
            "no curve 'g/net/date' in this sweep; did you mean g/net/data?");
}

TEST(FindCurve, ListsTheChoicesWhenSeveralMatch) {
  const CurveSet set = curves(
      "g,w,p,1000,,,1,100,1,32\ng,w,p,800,,,1.1,80,0,32\n"
      "g,w,p,1000,,,1,100,1,64\ng,w,p,800,,,1.1,80,0,64\n");

  EXPECT_EQ(find_curve(set.curves, "g/w").error().line(),
            "'g/w' names 2 curves; say which: known: g/w/p/batch_size=32, g/w/p/batch_size=64");
  EXPECT_TRUE(find_curve(set.curves, "g/w/batch_size=64").ok());
}

TEST(FindPoint, CountsAKnobAtItsDefaultValueAsAbsent) {
  const CurveSet set = curves(
      "g,w,p,1000,877,,1,100,1,\n"
      "g,w,p,800,877,,1.1,80,0,\n");
  const Curve& curve = set.curves.at(0);

  EXPECT_EQ(find_point(curve, {.sm_clock = Mhz(800), .memory_clock = Mhz(877)}), &curve.points[1]);
  EXPECT_EQ(find_point(curve, {.sm_clock = Mhz(1000)}), &curve.points[0]);
  EXPECT_EQ(find_point(curve, {.sm_clock = Mhz(801)}), nullptr);
}

TEST(ParseSweepReference, SplitsOffTheInterpolationStep) {
  EXPECT_EQ(parse_sweep_reference("a/b.csv@15MHz")->step, Mhz(15));
  EXPECT_EQ(parse_sweep_reference("a/b.csv@15MHz")->path, "a/b.csv");
  EXPECT_EQ(parse_sweep_reference("a@b.csv")->path, "a@b.csv");
  EXPECT_FALSE(parse_sweep_reference("b.csv@fineMHz").ok());
}

}  // namespace
}  // namespace hypermile
