// SPDX-License-Identifier: Apache-2.0
#include "progress/outer_levels.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace hypermile {
namespace {

const std::vector<CountEvent> kOptimizer = {{10, true, 20}, {11, true, 1}};
const std::vector<CountEvent> kLogging = {{20, true, 4}};

TEST(OuterLevels, AreFoundWithinSixOuterIterationsAndTwelveForTwo) {
  for (const std::uint32_t inner : {2U, 4U, 8U, 16U, 32U, 96U}) {
    OuterLevels levels;
    levels.start();
    std::uint32_t iteration = 0;
    while (levels.levels().empty() && iteration < 20 * inner) {
      ++iteration;
      levels.ended(1, iteration % inner == 0 ? kOptimizer : std::vector<CountEvent>{});
    }

    ASSERT_EQ(levels.levels().size(), 1U) << inner;
    EXPECT_EQ(levels.levels()[0].inner, inner);
    EXPECT_LE(iteration, (inner == 2 ? 12 : 6) * inner);
  }
}

TEST(OuterLevels, EndOncePerOuterIterationEvenIfOneIsMissed) {
  OuterLevels levels;
  levels.start();
  double ended = 0;
  for (std::uint32_t i = 1; i <= 400; ++i) {
    const bool comes = i % 8 == 0 && i != 200;
    levels.ended(1, comes ? kOptimizer : std::vector<CountEvent>{});
    for (const auto& level : levels.levels()) ended += level.ended ? level.iterations : 0;
  }

  ASSERT_EQ(levels.levels().size(), 1U);
  EXPECT_EQ(ended, 400 / 8 - 5) << "all but the five that detection took";
}

TEST(OuterLevels, NestTwoDeep) {
  OuterLevels levels;
  levels.start();
  for (std::uint32_t i = 1; i <= 800; ++i) {
    std::vector<CountEvent> events;
    if (i % 4 == 0) events = kOptimizer;
    if (i % 40 == 0) events.push_back(kLogging[0]);
    levels.ended(1, events);
  }

  ASSERT_EQ(levels.levels().size(), 2U);
  EXPECT_EQ(levels.levels()[0].inner, 4U);
  EXPECT_EQ(levels.levels()[1].inner, 40U);
}

TEST(OuterLevels, AreLostWhenTheirKernelStopsComing) {
  OuterLevels levels;
  levels.start();
  for (std::uint32_t i = 1; i <= 80; ++i) {
    levels.ended(1, i % 8 == 0 ? kOptimizer : std::vector<CountEvent>{});
  }
  ASSERT_EQ(levels.levels().size(), 1U);

  bool changed = false;
  for (int i = 0; i < 20; ++i) changed |= levels.ended(1, {});

  EXPECT_TRUE(changed);
  EXPECT_TRUE(levels.levels().empty());
}

TEST(OuterLevels, AreNotFoundInChance) {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    OuterLevels levels;
    levels.start();
    for (int i = 0; i < 3000; ++i) {
      std::vector<CountEvent> events;
      for (KernelNumber kernel = 1; kernel < 60; ++kernel) {
        if (random.uniform() < 0.1) events.push_back({kernel, true, 1});
      }
      levels.ended(1, events);
      found += levels.levels().size();
    }
  }
  EXPECT_EQ(found, 0U);
}

}  // namespace
}  // namespace hypermile
