// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

TEST(VirtualClock, JumpsToTheEndOfASleep) {
  VirtualClock clock(1000);

  clock.sleep_for(Seconds(86400));

  EXPECT_EQ(clock.now() - Instant(), Seconds(86400));
  EXPECT_DOUBLE_EQ(clock.unix_time(), 87400);
}

TEST(VirtualClock, NeverGoesBack) {
  VirtualClock clock;
  clock.advance(Seconds(5));

  clock.sleep_until(Instant() + Seconds(1));

  EXPECT_EQ(clock.now(), Instant() + Seconds(5));
}

TEST(VirtualClock, DoesNotMoveOnceStopWasRequested) {
  VirtualClock clock;
  std::stop_source stop;
  stop.request_stop();

  clock.sleep_for(Seconds(1), stop.get_token());

  EXPECT_EQ(clock.now(), Instant());
}

TEST(RealClock, WakesFromALongSleepWhenStopped) {
  const std::unique_ptr<Clock> clock = make_real_clock();
  std::stop_source stop;
  stop.request_stop();
  const Instant before = clock->now();

  clock->sleep_for(Seconds(3600), stop.get_token());

  EXPECT_LT(clock->now() - before, Seconds(60));
}

TEST(Instant, DifferencesAreExactToTheNanosecondAfterYears) {
  const Instant later = Instant::from_nanoseconds(100'000'000'000'000'001);

  EXPECT_EQ((later + Seconds(1e-9)).nanoseconds(), 100'000'000'000'000'002);
  EXPECT_DOUBLE_EQ((later + milliseconds(20) - later).value(), 0.02);
}

}  // namespace
}  // namespace hypermile
