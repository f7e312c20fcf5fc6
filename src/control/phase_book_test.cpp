// SPDX-License-Identifier: Apache-2.0
#include "control/phase_book.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

Window window_at(const Setting& setting, double seconds, double watts) {
  Window window;
  window.setting = setting;
  window.iterations = 10;
  window.duration = Seconds(10 * seconds);
  window.time_per_iteration = Seconds(seconds);
  window.power = Watts(watts);
  return window;
}

TEST(Phase, KeepsTheDefaultFirstAmongWhatWasMeasured) {
  Phase phase;
  phase.count(window_at({.sm_clock = Mhz(1500)}, 0.11, 250));
  phase.count(window_at({}, 0.10, 300));
  phase.count(window_at({}, 0.12, 300));

  ASSERT_EQ(phase.control.measured.size(), 2U);
  EXPECT_TRUE(phase.control.measured.front().setting.empty());
  EXPECT_NEAR(*phase.control.measured.front().time.mean(), 0.11, 1e-12);
  EXPECT_EQ(phase.control.iterations, 30);
}

TEST(Phase, TakesNothingFromAWindowThatCannotBeUsed) {
  Phase phase;
  Window bad = window_at({}, 0.1, 300);
  bad.unusable = "the job paused";

  phase.count(bad);

  EXPECT_TRUE(phase.control.measured.empty());
  EXPECT_EQ(phase.control.iterations, 10) << "the job has run them all the same";
}

TEST(Phase, IsTooBriefWhereItsBurstsAreUntilOneLasts) {
  Phase phase;
  phase.entered = Instant() + Seconds(100);
  EXPECT_FALSE(phase.too_brief(Instant() + Seconds(101))) << "nothing is known of its bursts";

  phase.bursts = 4;
  phase.in_bursts = Seconds(12);

  EXPECT_TRUE(phase.too_brief(Instant() + Seconds(101)));
  EXPECT_FALSE(phase.too_brief(Instant() + Seconds(120)));
}

}  // namespace
}  // namespace hypermile
