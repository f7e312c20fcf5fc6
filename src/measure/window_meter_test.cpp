// SPDX-License-Identifier: Apache-2.0
#include "measure/window_meter.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

Instant at(double seconds) {
  return Instant() + Seconds(seconds);
}

Sample sample_at(double seconds, double watts, std::uint64_t reasons = 0) {
  Sample sample;
  sample.time = at(seconds);
  sample.power_instant = Watts(watts);
  sample.energy = Joules(seconds * watts);
  sample.sm_clock = Mhz(1410);
  sample.reasons = EventReasons{reasons};
  return sample;
}

TEST(WindowMeter, ReducesAnIntervalToTimeAndEnergyPerIteration) {
  const Setting setting{.sm_clock = Mhz(1410)};
  WindowMeter meter(setting, at(10), 100);
  for (int i = 0; i <= 20; ++i) meter.add(sample_at(10 + i * 0.1, 400));

  const Window window = meter.close(at(12), 140);

  ASSERT_TRUE(window.usable());
  EXPECT_EQ(window.setting, setting);
  EXPECT_NEAR(window.time_per_iteration->value(), 0.05, 1e-12);
  EXPECT_NEAR(window.power->value(), 400, 1e-6);
  EXPECT_NEAR(window.energy->value(), 800, 1e-6);
  EXPECT_EQ(window.first_iteration, 100);
  EXPECT_EQ(window.iterations, 40);
  EXPECT_EQ(window.sm_clock, Mhz(1410));
  EXPECT_FALSE(window.memory_clock);
}

TEST(WindowMeter, CountsHowOftenTheCardThrottled) {
  WindowMeter meter({}, at(0), 0);
  for (int i = 0; i < 10; ++i) {
    meter.add(sample_at(i * 0.1, 400, i < 4 ? EventReasons::kSoftwarePowerCap : 0));
  }

  EXPECT_NEAR(meter.close(at(1), 10).throttled_share, 0.4, 1e-12);
}

TEST(WindowMeter, SaysWhyAWindowIsUnusable) {
  WindowMeter stalled({}, at(0), 7);
  stalled.add(sample_at(0.1, 100));
  stalled.add(sample_at(0.2, 100));
  const WindowMeter blind({}, at(0), 7);

  EXPECT_EQ(stalled.close(at(1), 7).unusable, "the job made no iteration");
  EXPECT_EQ(blind.close(at(1), 9).unusable, "power is not known");
  EXPECT_FALSE(blind.close(at(1), 9).usable());
}

}  // namespace
}  // namespace hypermile
