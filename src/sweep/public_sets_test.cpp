// SPDX-License-Identifier: Apache-2.0
//
// Reads the public sweeps in a folder outside the repository (HYPERMILE_MEASURED_DATA, or
// ../shared/data/measured beside the source tree). Skipped where it is absent.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "sweep/curve.h"

namespace hypermile {
namespace {

std::filesystem::path measured_data() {
  if (const char* path = std::getenv("HYPERMILE_MEASURED_DATA")) return path;
  const char* source = std::getenv("HYPERMILE_SOURCE_DIR");
  return std::filesystem::path(source ? source : ".") / "../shared/data/measured";
}

CurveSet load(const std::string& set, const CurveOptions& options = {}) {
  const auto file = read_sweep((measured_data() / set / "data.csv").string());
  EXPECT_TRUE(file.ok()) << file.error().line();
  return file.ok() ? make_curves(*file, options) : CurveSet{};
}

class PublicSets : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(measured_data())) {
      GTEST_SKIP() << "no measured data at " << measured_data();
    }
  }
};

TEST_F(PublicSets, EverySweepWithADefaultIsReadWithoutLosingARowSilently) {
  for (const auto& entry : std::filesystem::directory_iterator(measured_data())) {
    const auto file = read_sweep((entry.path() / "data.csv").string());
    if (!file) {
      // A set that is not a sweep lacks a column, and one line says so.
      EXPECT_NE(file.error().message.find("the header lacks"), std::string::npos)
          << file.error().line();
      continue;
    }
    const CurveSet set = make_curves(*file, {});
    std::size_t rows = 0;
    for (const Curve& curve : set.curves) {
      for (const CurvePoint& point : curve.points) rows += point.rows;
    }
    EXPECT_LE(rows, file->rows.size()) << entry.path();
    EXPECT_GT(set.curves.size(), 0U) << entry.path();
  }
}

TEST_F(PublicSets, LaptopSettingsAreLocksAndLocksAboveTheClockSeenAreDropped) {
  const CurveSet set = load("darsh_laptop_dlkernels");

  ASSERT_EQ(set.curves.size(), 33U);
  EXPECT_GT(set.quirks.repeats_averaged, 1000U);
  EXPECT_GT(set.quirks.above_default, 100U);
  for (const Curve& curve : set.curves) {
    EXPECT_LE(curve.points.at(1).setting.sm_clock, curve.default_point().sm_seen);
  }
}

TEST_F(PublicSets, BlankedTimesOfTheV100AreCountedAndItsValidCodesRemain) {
  const auto file = read_sweep((measured_data() / "ttu_a100_v100/data.csv").string());

  ASSERT_TRUE(file.ok());
  EXPECT_GT(file->rows_without_time, 1000U);
  EXPECT_EQ(make_curves(*file, {.knobs = {}, .step = Mhz(15)}).curves.size(), 18U);
}

TEST_F(PublicSets, KnobsOfATwoKnobSetAreSeparated) {
  const CurveSet sm = load("giordano_a100_rtxpro6000", {.knobs = {Knob::kSmClock}, .step = {}});

  ASSERT_EQ(sm.curves.size(), 5U);
  for (const Curve& curve : sm.curves) {
    for (const CurvePoint& point : curve.points) EXPECT_FALSE(point.setting.power_limit);
  }
}

}  // namespace
}  // namespace hypermile
