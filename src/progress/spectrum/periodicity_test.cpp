// SPDX-License-Identifier: Apache-2.0
#include "progress/spectrum/periodicity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "progress/spectrum/series.h"
#include "progress/spectrum/spectrum.h"

namespace hypermile {
namespace {

std::vector<double> wave(double period, std::size_t count, double trend = 0) {
  std::vector<double> series;
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = static_cast<double>(i);
    series.push_back(3 * std::sin(2 * std::numbers::pi * x / period) + trend * x + 100);
  }
  return series;
}

TEST(Spectrum, PeaksAtTheFrequencyOfAWave) {
  const std::vector<double> size = magnitudes(wave(16, 256), 256);

  const auto peak = std::max_element(size.begin() + 1, size.end()) - size.begin();
  EXPECT_EQ(peak, 16);
  EXPECT_TRUE(magnitudes({}, 8).empty());
}

TEST(Spectrum, AutocorrelationMatchesTheDefinitionAtWholeLags) {
  const std::vector<double> series = {1, 4, 2, 8, 5, 7, 1, 3, 9, 2};
  const std::vector<double> fast = autocorrelation(series, 4, 8);

  double mean = 0;
  for (const double v : series) mean += v / 10;
  double variance = 0;
  for (const double v : series) variance += (v - mean) * (v - mean) / 10;
  for (std::size_t lag = 0; lag <= 4; ++lag) {
    double sum = 0;
    for (std::size_t i = lag; i < 10; ++i) sum += (series[i] - mean) * (series[i - lag] - mean);
    EXPECT_NEAR(fast[lag * 8], sum / static_cast<double>(10 - lag) / variance, 1e-5) << lag;
  }
}

TEST(Spectrum, AutocorrelationOfAConstantIsZero) {
  for (const double one : autocorrelation(std::vector<double>(20, 7.0), 5, 2)) EXPECT_EQ(one, 0);
}

TEST(Repetition, FindsAPeriodBetweenTwoSamplesUnderATrend) {
  const auto found = Repetition(wave(8.37, 400, 0.05)).find(4);

  ASSERT_TRUE(found);
  EXPECT_NEAR(found->period, 8.37, 0.02);
  EXPECT_GT(found->strength, 0.95);
}

TEST(Repetition, FindsNothingInAConstantOrAShortSeries) {
  EXPECT_FALSE(Repetition(std::vector<double>(100, 5.0)).find(4));
  EXPECT_FALSE(Repetition(std::vector<double>{1, 2, 3}).find(4));
}

TEST(Repetition, AmplitudeAndExplainedShareAreThoseOfAWave) {
  const Repetition repetition(wave(12.5, 500));

  EXPECT_NEAR(repetition.amplitude(12.5, 1), 1.5, 0.05);
  EXPECT_NEAR(repetition.explained(12.5, 1), 1, 0.05);
  EXPECT_LT(repetition.explained(9.1, 1), 0.1);
}

TEST(Series, MeanRateOfACounterIsItsGrowth) {
  std::vector<TimedValue> counter;
  for (int i = 0; i < 400; ++i) {
    counter.push_back({i * 0.05, std::floor(i * 0.05 * 10) * 30});  // 300 W in steps of 100 ms
  }
  const auto grid = grid_of(counter, 0.1);

  ASSERT_TRUE(grid);
  const std::vector<double> rate = mean_rate(counter, *grid);
  for (std::size_t i = 5; i + 5 < rate.size(); ++i) EXPECT_NEAR(rate[i], 300, 1);
  EXPECT_TRUE(mean_rate(std::vector<TimedValue>(50, {0, 1}), *grid).empty());
}

TEST(Series, KeepsSlowPollsAtTheirOwnPace) {
  std::vector<TimedValue> slow;
  for (int i = 0; i < 20; ++i) slow.push_back({i * 0.5, 1});

  EXPECT_NEAR(grid_of(slow, 0.1)->step_s, 0.5, 1e-12);
  EXPECT_FALSE(grid_of(std::span(slow).first(3), 0.1));
}

}  // namespace
}  // namespace hypermile
