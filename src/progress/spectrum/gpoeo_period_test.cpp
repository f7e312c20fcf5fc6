// SPDX-License-Identifier: Apache-2.0
#include "progress/spectrum/gpoeo_period.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/random.h"

namespace hypermile {
namespace {

// Power on four levels plus noise, sampled every 100 ms.
std::vector<double> four_levels(double period_s, double seconds, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> series;
  for (int i = 0; i < static_cast<int>(seconds * 10); ++i) {
    const double place = std::fmod(i * 0.1 / period_s, 1.0);
    const double level = place < 0.3 ? 80 : place < 0.7 ? 95 : place < 0.85 ? 60 : 30;
    series.push_back(level + random.gaussian());
  }
  return series;
}

TEST(GpoeoPeriod, FindsPeriodsOfSecondsToAFewPercent) {
  for (const double period : {2.1, 3.7, 6.0}) {
    const auto found = gpoeo_period(four_levels(period, 90, 4), 10);

    ASSERT_TRUE(found) << period;
    EXPECT_NEAR(found->period.value() / period, 1, 0.05) << period;
  }
}

TEST(GpoeoPeriod, NeverAnswersBelowItsFloor) {
  const auto found = gpoeo_period(four_levels(0.25, 60, 2), 10);

  if (found) {
    EXPECT_GE(found->period.value(), 0.4);
  }
}

TEST(GpoeoPeriod, GivesUpOnAFlatOrEmptySeries) {
  EXPECT_FALSE(gpoeo_period({}, 10));
  EXPECT_FALSE(gpoeo_period(std::vector<double>(600, 50.0), 10));
  EXPECT_FALSE(gpoeo_period(std::vector<double>(3, 50.0), 10));
}

TEST(GpoeoPeriod, SaysNothingBeforeItsFirstWindowIsFull) {
  EXPECT_FALSE(gpoeo_period(four_levels(2.1, 24, 4), 10));
  EXPECT_TRUE(gpoeo_period(four_levels(2.1, 90, 4), 10));
}

TEST(GpoeoPeriod, APriorKeepsThePeriodNearTheLastOne) {
  const std::vector<double> series = four_levels(3.0, 40, 4);
  GpoeoQuestion question;
  question.prior = GpoeoPrior{Seconds(3.0), 0.8, 1.5};

  const GpoeoAnswer answer = gpoeo_ask(series, 10, question);

  ASSERT_EQ(answer.kind, GpoeoAnswer::Kind::kPeriod);
  EXPECT_GE(answer.period.value(), 0.85 * 2.4);
  EXPECT_LE(answer.period.value(), 1.15 * 4.5);
}

TEST(GpoeoPeriod, CallsNoiseAperiodicOnceItHasSeenEnough) {
  Random random(5);
  std::vector<double> noise;
  for (int i = 0; i < 900; ++i) noise.push_back(50 + 10 * random.gaussian());

  EXPECT_EQ(gpoeo_ask(noise, 10, {}).kind, GpoeoAnswer::Kind::kAperiodic);
}

TEST(GpoeoPeriod, CompositeDoesNotCancelOppositeSignals) {
  std::vector<double> power;
  std::vector<double> use;
  for (int i = 0; i < 100; ++i) {
    const double wave = std::sin(2 * std::numbers::pi * i / 20);
    power.push_back(50 + 10 * wave);
    use.push_back(50 - 10 * wave);
  }

  const std::vector<double> composite = gpoeo_composite(power, use, std::vector<double>(100, 30.0));

  const auto [low, high] = std::ranges::minmax(composite);
  EXPECT_NEAR(high - low, 40.0 / 3, 0.1);
}

}  // namespace
}  // namespace hypermile
