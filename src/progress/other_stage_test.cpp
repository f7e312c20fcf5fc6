// SPDX-License-Identifier: Apache-2.0
#include "progress/other_stage.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

// A pattern of kernels 1 to 20, once each.
class OtherStage : public ::testing::Test {
 protected:
  OtherStage() {
    for (KernelNumber kernel = 1; kernel <= 20; ++kernel) pattern_.counts.push_back({kernel, 1});
  }
  void run(KernelNumber first, KernelNumber count) {
    for (KernelNumber i = 0; i < count; ++i) {
      ring_.push(Instant(), static_cast<KernelNumber>(first + i));
    }
  }
  std::optional<std::uint64_t> found() const {
    return other_stage(ring_, 0, ring_.end(), pattern_);
  }

  Reference pattern_;
  LaunchRing ring_;
};

TEST_F(OtherStage, LearningHasKernelsThatPlayNeverLaunches) {
  run(1, 20);
  run(100, 30);
  run(1, 8);
  run(100, 30);
  run(1, 20);

  EXPECT_EQ(found(), 68U);
}

TEST_F(OtherStage, IsMeasuredByItselfWhereTwoOfThemAreAmongTheLaunches) {
  run(1, 20);
  run(100, 30);
  for (int step = 0; step < 5; ++step) run(1, 20);
  run(100, 40);

  EXPECT_EQ(found(), 40U);
}

TEST_F(OtherStage, AnEvaluationIsNone) {
  run(1, 20);
  for (int batch = 0; batch < 30; ++batch) {
    run(1, 8);
    run(100, 5);
  }

  EXPECT_FALSE(found().has_value());
}

TEST_F(OtherStage, AGraphTellsNothingBecauseItHidesItsKernels) {
  pattern_.counts.resize(1);
  run(1, 1);
  run(100, 30);

  EXPECT_FALSE(found().has_value());
}

TEST_F(OtherStage, WhatTheRingHasForgottenTellsNothing) {
  for (int i = 0; i < 7000; ++i) run(1, 20);

  EXPECT_FALSE(found().has_value());
}

}  // namespace
}  // namespace hypermile
