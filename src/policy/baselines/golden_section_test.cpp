// SPDX-License-Identifier: Apache-2.0
#include "policy/baselines/golden_section.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <vector>

namespace hypermile {
namespace {

TEST(GoldenSection, EndsBesideTheMinimumWhereverItLies) {
  for (std::int64_t minimum = 0; minimum <= 89; ++minimum) {
    std::set<std::int64_t> probed;
    const auto value = [&](std::int64_t step) -> std::optional<double> {
      probed.insert(step);
      return std::abs(static_cast<double>(step - minimum));
    };

    ASSERT_TRUE(golden_section({.low = 0, .high = 89}, value, std::less<>{}));

    double least = 89;
    for (const std::int64_t step : probed) least = std::min(least, *value(step));
    EXPECT_LE(least, 1) << minimum;
  }
}

TEST(GoldenSection, EachCutAfterTheFirstCostsOneProbe) {
  int probes = 0;
  const auto value = [&](std::int64_t step) -> std::optional<double> {
    ++probes;
    return static_cast<double>(step);
  };

  golden_section({.low = 0, .high = 89, .narrow = 34}, value, std::less<>{});
  EXPECT_EQ(probes, 3);  // 89 -> 55 -> 34
}

TEST(GoldenSection, StopsAtTheNumberOfProbes) {
  int probes = 0;
  const auto value = [&](std::int64_t step) -> std::optional<double> {
    ++probes;
    return static_cast<double>(step);
  };

  EXPECT_TRUE(golden_section({.low = 0, .high = 1000, .narrow = 1, .most_probes = 6}, value,
                             std::less<>{}));
  EXPECT_EQ(probes, 6);
}

TEST(GoldenSection, ReturnsFalseWhenAProbeIsMissing) {
  int left = 3;
  const auto value = [&](std::int64_t step) -> std::optional<double> {
    if (left-- == 0) return std::nullopt;
    return static_cast<double>(step);
  };

  EXPECT_FALSE(golden_section({.low = 0, .high = 100}, value, std::less<>{}));
}

TEST(GoldenSection, EndsInsideTheIntervalWhateverTheComparisonsSay) {
  for (std::int64_t width = 0; width <= 60; ++width) {
    for (unsigned answers = 0; answers < 256; ++answers) {
      int probes = 0;
      unsigned at = 0;
      const auto value = [&](std::int64_t step) -> std::optional<std::int64_t> {
        ++probes;
        EXPECT_GE(step, 10);
        EXPECT_LE(step, 10 + width);
        return step;
      };
      const auto better = [&](std::int64_t, std::int64_t) { return (answers >> (at++ % 8)) & 1U; };

      EXPECT_TRUE(golden_section({.low = 10, .high = 10 + width}, value, better));
      EXPECT_LE(probes, 24);
    }
  }
}

}  // namespace
}  // namespace hypermile
