// SPDX-License-Identifier: Apache-2.0
#include "evidence/trial/detected_suite.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace hypermile {
namespace {

TEST(DetectedSuite, NoWorkloadIsCountedWronglyAndNearlyAllAreCounted) {
  if (const char* source = std::getenv("HYPERMILE_SOURCE_DIR")) {
    ::setenv("HYPERMILE_DATA", source, 1);
  }
  const GpuSheet sheet = *load_gpu_sheet("rtx3080ti");
  int locked = 0;
  for (const std::string& key : workload_keys()) {
    const Detected found = detect_iterations(sheet, *load_workload(key), 15, 1).value();

    EXPECT_FALSE(found.wrong()) << key << ": " << found.counted << " of " << found.truth;
    locked += found.locked;
  }
  EXPECT_GE(locked, 80);
}

TEST(DetectedSuite, JobsWithoutAPeriodAreLeftAlone) {
  if (const char* source = std::getenv("HYPERMILE_SOURCE_DIR")) {
    ::setenv("HYPERMILE_DATA", source, 1);
  }
  const GpuSheet sheet = *load_gpu_sheet("rtx3080ti");
  // With these seeds the launches resemble a pattern for a while.
  EXPECT_FALSE(detect_iterations(sheet, *load_workload("tsvm"), 20, 1)->locked);
  EXPECT_FALSE(detect_iterations(sheet, *load_workload("tgbm"), 8, 2)->locked);
}

}  // namespace
}  // namespace hypermile
