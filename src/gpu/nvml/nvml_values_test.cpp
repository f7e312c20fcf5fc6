// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/nvml_values.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hypermile {
namespace {

Instant at(double seconds) {
  return Instant() + Seconds(seconds);
}

TEST(EnergyCounter, CountsInJoules) {
  EnergyCounter counter(Watts(7000));

  EXPECT_EQ(counter.accept(1'000'000, at(0)), Joules(1000));
  EXPECT_EQ(counter.accept(1'500'500, at(1)), Joules(1500.5));
}

TEST(EnergyCounter, GoesOnThroughAThirtyTwoBitWrap) {
  EnergyCounter counter(Watts(7000));
  const unsigned long long before = (1ULL << 32) - 100'000;
  (void)counter.accept(before, at(0));

  const auto after = counter.accept(200'000, at(1));

  EXPECT_NEAR(after->value() - static_cast<double>(before) / 1000, 300, 1e-6);
}

TEST(EnergyCounter, IsUnknownOnceAfterADriverReload) {
  EnergyCounter counter(Watts(7000));
  (void)counter.accept(9'000'000, at(0));

  EXPECT_EQ(counter.accept(10, at(1)), std::nullopt);
  EXPECT_EQ(counter.accept(500'010, at(2)), Joules(500.01));
}

TEST(EnergyCounter, DoesNotBelieveAJumpNoCardCouldMake) {
  EnergyCounter counter(Watts(7000));
  (void)counter.accept(1'000'000, at(0));

  EXPECT_EQ(counter.accept(900'000'000'000, at(0.1)), std::nullopt);
  EXPECT_EQ(counter.accept(nvml::kNotAvailable64, at(0.2)), std::nullopt);
}

TEST(EnergyCounter, AllowsOneRefreshOfTheCounterBetweenCloseReadings) {
  EnergyCounter counter(Watts(7000));
  (void)counter.accept(1'000'000, at(0));

  EXPECT_EQ(counter.accept(1'070'000, at(0.001)), Joules(1070))
      << "one update holds 100 ms at 700 W";
}

TEST(NumberOf, ReadsEachTypeAndItsSentinel) {
  nvml::Value value{};
  value.as_unsigned = 310'000;
  EXPECT_EQ(number_of(nvml::kUnsignedInt, value), 310'000);
  value.as_unsigned = nvml::kNotAvailable32;
  EXPECT_EQ(number_of(nvml::kUnsignedInt, value), std::nullopt);
  value.as_unsigned_long_long = nvml::kNotAvailable64;
  EXPECT_EQ(number_of(nvml::kUnsignedLongLong, value), std::nullopt);
  value.as_double = std::nan("");
  EXPECT_EQ(number_of(nvml::kDouble, value), std::nullopt);
  EXPECT_EQ(number_of(static_cast<nvml::ValueType>(99), value), std::nullopt);
}

TEST(PowerOf, RefusesZeroNegativeAndWhatIsAboveTheCeiling) {
  EXPECT_EQ(power_of(310'500, Watts(7000)), Watts(310.5));
  EXPECT_EQ(power_of(0, Watts(7000)), std::nullopt);
  EXPECT_EQ(power_of(-1, Watts(7000)), std::nullopt);
  EXPECT_EQ(power_of(7'000'001, Watts(7000)), std::nullopt);
  EXPECT_EQ(power_ceiling(Watts(700)), Watts(7000));
  EXPECT_EQ(power_ceiling(std::nullopt), Watts(10'000));
}

}  // namespace
}  // namespace hypermile
