// SPDX-License-Identifier: Apache-2.0
#include "plan/execute/switch_timer.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

Instant at_ms(double ms) {
  return Instant() + milliseconds(ms);
}

// Segments of 10, 20 and 30 ms, expected to last 1 ms each, after `iterations` iterations.
SwitchTimer learned(int iterations) {
  SwitchTimer timer({milliseconds(1), milliseconds(1), milliseconds(1)});
  for (int i = 0; i <= iterations; ++i) {
    timer.passed(0, at_ms(60 * i));
    if (i == iterations) break;
    timer.passed(1, at_ms(60 * i + 10));
    timer.passed(2, at_ms(60 * i + 30));
  }
  return timer;
}

TEST(SwitchTimer, KnowsNothingBeforeTheFirstBoundary) {
  const SwitchTimer timer({milliseconds(1)});

  EXPECT_EQ(timer.segment_at(at_ms(5), at_ms(0)), std::nullopt);
  EXPECT_EQ(timer.next_boundary(at_ms(5), at_ms(0)), std::nullopt);
}

TEST(SwitchTimer, LearnsHowLongSegmentsLast) {
  const SwitchTimer timer = learned(1);

  EXPECT_NEAR(timer.duration(0).value(), 0.010, 1e-9);
  EXPECT_NEAR(timer.duration(1).value(), 0.020, 1e-9);
  EXPECT_NEAR(timer.duration(2).value(), 0.030, 1e-9);
  EXPECT_NEAR(timer.iteration().value(), 0.060, 1e-9);
}

TEST(SwitchTimer, LooksAheadWithinAndBeyondTheIteration) {
  const SwitchTimer timer = learned(2);  // now it is 120 ms, and segment 0 begins

  EXPECT_EQ(timer.segment_at(at_ms(125), at_ms(120)), 0U);
  EXPECT_EQ(timer.segment_at(at_ms(135), at_ms(120)), 1U);
  EXPECT_EQ(timer.segment_at(at_ms(155), at_ms(120)), 2U);
  EXPECT_EQ(timer.segment_at(at_ms(185), at_ms(120)), 0U);
  EXPECT_EQ(timer.segment_at(at_ms(120 + 600 + 15), at_ms(120)), 1U);
  EXPECT_NEAR((*timer.next_boundary(at_ms(135), at_ms(120)) - at_ms(150)).value(), 0, 1e-6);
}

TEST(SwitchTimer, WaitsForABoundaryThatIsLate) {
  const SwitchTimer timer = learned(2);

  EXPECT_EQ(timer.segment_at(at_ms(145), at_ms(140)), 1U);  // 10 ms late, then 20 ms of segment 1
  EXPECT_EQ(timer.segment_at(at_ms(159), at_ms(140)), 1U);
  EXPECT_EQ(timer.segment_at(at_ms(161), at_ms(140)), 2U);
}

TEST(SwitchTimer, GivesUpOnAJobThatStandsStill) {
  const SwitchTimer timer = learned(2);

  EXPECT_TRUE(timer.segment_at(at_ms(1000), at_ms(1000)));
  EXPECT_EQ(timer.segment_at(at_ms(1200), at_ms(1200)), std::nullopt);
}

TEST(SwitchTimer, ALostBoundaryDoesNotChangeDurations) {
  SwitchTimer timer = learned(5);

  timer.passed(2, at_ms(330));  // boundary 1 was lost
  timer.passed(0, at_ms(360));

  EXPECT_NEAR(timer.duration(0).value(), 0.010, 1e-9);
  EXPECT_NEAR(timer.duration(1).value(), 0.020, 1e-9);
  EXPECT_EQ(timer.segment_at(at_ms(365), at_ms(360)), 0U);
}

TEST(SwitchTimer, AHiccupHardlyChangesADuration) {
  SwitchTimer timer = learned(5);

  timer.passed(1, at_ms(310 + 800));  // segment 0 took 810 ms once

  EXPECT_LT(timer.duration(0).value(), 0.015);
}

}  // namespace
}  // namespace hypermile
