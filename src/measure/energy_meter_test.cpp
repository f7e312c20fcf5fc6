// SPDX-License-Identifier: Apache-2.0
#include "measure/energy_meter.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hypermile {
namespace {

Sample at(double seconds, std::optional<double> joules, std::optional<double> watts) {
  Sample sample;
  sample.time = Instant() + Seconds(seconds);
  if (joules) sample.energy = Joules(*joules);
  if (watts) sample.power_instant = Watts(*watts);
  return sample;
}

TEST(EnergyMeter, IsExactAlthoughTheCounterMovesInSteps) {
  EnergyMeter meter;
  // 300 W, counter refreshed every 100 ms, read every 7 ms from a moment inside a step.
  for (double t = 0.053; t < 1.0; t += 0.007) {
    meter.add(at(t, 300 * std::floor(t * 10) / 10, std::nullopt));
  }

  const auto power = meter.mean_power();

  ASSERT_TRUE(power);
  EXPECT_EQ(power->source, MeanPower::Source::kCounter);
  EXPECT_NEAR(power->power.value(), 300, 300 * 0.01);
  EXPECT_FALSE(power->counter_suspect);
}

TEST(EnergyMeter, FallsBackToIntegratedPowerWithoutACounter) {
  EnergyMeter meter;
  meter.add(at(0, std::nullopt, 100));
  meter.add(at(1, std::nullopt, 300));
  meter.add(at(2, std::nullopt, 300));

  const auto power = meter.mean_power();

  ASSERT_TRUE(power);
  EXPECT_EQ(power->source, MeanPower::Source::kIntegrated);
  EXPECT_NEAR(power->power.value(), 200, 1e-9);
  EXPECT_FALSE(power->counter_suspect);
}

TEST(EnergyMeter, SuspectsACounterThatStandsStill) {
  EnergyMeter meter;
  for (int i = 0; i <= 30; ++i) meter.add(at(i * 0.1, 5000, 250));

  const auto power = meter.mean_power();

  ASSERT_TRUE(power);
  EXPECT_TRUE(power->counter_suspect);
  EXPECT_EQ(power->source, MeanPower::Source::kIntegrated);
  EXPECT_NEAR(power->power.value(), 250, 1e-9);
}

TEST(EnergyMeter, StartsAnewWhenTheCounterWrapsOrTheDriverIsReloaded) {
  EnergyMeter meter;
  for (int i = 0; i < 10; ++i) meter.add(at(i * 0.1, 4e9 + i * 30.0, 300));
  for (int i = 10; i < 20; ++i) meter.add(at(i * 0.1, (i - 10) * 30.0, 300));

  const auto power = meter.mean_power();

  ASSERT_TRUE(power);
  EXPECT_TRUE(power->counter_suspect);
  EXPECT_NEAR(power->power.value(), 300, 1e-6);
}

TEST(EnergyMeter, TellsHowFarCounterAndPowerDisagree) {
  EnergyMeter meter;
  for (int i = 0; i < 20; ++i) meter.add(at(i * 0.1, i * 30.0, 200));

  EXPECT_NEAR(*meter.mean_power()->disagreement, 0.5, 1e-9);
}

TEST(EnergyMeter, HasNoMeanFromFewerThanTwoReadings) {
  EnergyMeter meter;
  EXPECT_FALSE(meter.mean_power());
  meter.add(at(0, 10, 100));
  EXPECT_FALSE(meter.mean_power());
}

}  // namespace
}  // namespace hypermile
