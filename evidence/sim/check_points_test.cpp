// SPDX-License-Identifier: Apache-2.0
#include "evidence/sim/check_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "evidence/sim/h200_points.h"

namespace hypermile {
namespace {

TEST(Evidence, EveryPublishedCheckPointIsMetWithinThreePercent) {
  const auto points = check_points();

  ASSERT_TRUE(points) << points.error().line();
  EXPECT_EQ(points->size(), 35U);
  for (const CheckPoint& point : *points) EXPECT_LE(std::abs(point.error()), 0.03) << point.what;
}

TEST(Evidence, KernelsPreferTheClocksThatWerePublished) {
  const auto table = kernel_class_directions();

  ASSERT_TRUE(table) << table.error().line();
  for (const Direction& row : *table) EXPECT_TRUE(row.agrees) << row.what << ": " << row.simulated;
}

TEST(Evidence, H200PowerIsMetWithinFivePercent) {
  const char* set = std::getenv("HYPERMILE_H200_DATA");
  const char* tree = std::getenv("HYPERMILE_SOURCE_DIR");
  const std::string folder =
      set != nullptr ? set : std::string(tree != nullptr ? tree : ".") + "/../shared/data/h200";
  const std::string csv = folder + "/power_vs_clock.csv";
  if (!std::filesystem::exists(csv)) {
    GTEST_SKIP() << "no recordings of an H200; set HYPERMILE_H200_DATA";
  }

  const auto points = h200_points(csv);

  ASSERT_TRUE(points) << points.error().line();
  for (const H200Point& point : *points) {
    EXPECT_NEAR(point.simulated_power_w / point.power_w, 1, 0.05)
        << point.kernel << " at duty " << point.duty;
    EXPECT_NEAR(point.simulated_op_us / point.op_us, 1, 0.05)
        << point.kernel << " at duty " << point.duty;
  }
}

}  // namespace
}  // namespace hypermile
