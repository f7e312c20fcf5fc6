// SPDX-License-Identifier: Apache-2.0
#include "policy/baselines/ladder.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

std::vector<std::size_t> settings_of(const Ladder& ladder) {
  std::vector<std::size_t> out;
  for (const Rung& rung : ladder) out.push_back(rung.setting);
  return out;
}

using Indices = std::vector<std::size_t>;

TEST(SettingGrid, WalksOneKnobFromTheDefaultDownWithHeightsOverTheDefaults) {
  PolicyContext context;
  context.settings = {{}, {.sm_clock = Mhz(700)}, {.sm_clock = Mhz(1300)}, {.sm_clock = Mhz(1000)}};
  context.default_values.sm_clock = Mhz(1400);

  const SettingGrid grid = make_grid(context, kClockFirst);

  EXPECT_EQ(grid.knob, Knob::kSmClock);
  EXPECT_EQ(settings_of(grid.main()), (Indices{0, 2, 3, 1}));
  EXPECT_DOUBLE_EQ(grid.main().back().height, 0.5);
}

TEST(SettingGrid, LeavesOutSettingsThatMoveBothClockAndLimit) {
  PolicyContext context;
  context.settings = {{},
                      {.power_limit = Watts(200)},
                      {.sm_clock = Mhz(1000)},
                      {.sm_clock = Mhz(1000), .power_limit = Watts(200)}};

  EXPECT_EQ(settings_of(make_grid(context, kClockFirst).main()), (Indices{0, 2}));
  EXPECT_EQ(settings_of(make_grid(context, kLimitFirst).main()), (Indices{0, 1}));
}

TEST(SettingGrid, HasOneLadderForEachMemoryClock) {
  PolicyContext context;
  context.settings = {{},
                      {.sm_clock = Mhz(1000)},
                      {.memory_clock = Mhz(5000)},
                      {.sm_clock = Mhz(1000), .memory_clock = Mhz(5000)},
                      {.sm_clock = Mhz(1000), .memory_clock = Mhz(800)}};
  context.default_values.memory_clock = Mhz(10000);

  const SettingGrid grid = make_grid(context, kClockFirst);

  ASSERT_EQ(grid.by_memory.size(), 3U);
  EXPECT_EQ(settings_of(grid.by_memory[1]), (Indices{2, 3}));
  EXPECT_EQ(settings_of(grid.by_memory[2]), (Indices{4}));
  EXPECT_DOUBLE_EQ(grid.memory_height[1], 0.5);
  EXPECT_EQ(grid.memory_of(4), 2U);
  EXPECT_EQ(grid.memory_of(99), std::nullopt);
}

TEST(SettingGrid, TakesTheHighestMemoryClockForTheDefaultsWhereThatIsUnknown) {
  PolicyContext context;
  context.settings = {{},
                      {.sm_clock = Mhz(1900), .memory_clock = Mhz(9501)},
                      {.sm_clock = Mhz(1500), .memory_clock = Mhz(9501)},
                      {.sm_clock = Mhz(1900), .memory_clock = Mhz(5001)}};

  const SettingGrid grid = make_grid(context, kClockFirst);

  ASSERT_EQ(grid.by_memory.size(), 2U);
  EXPECT_EQ(settings_of(grid.main()), (Indices{0, 1, 2}));
}

TEST(SettingGrid, FallsBackToMemoryAndThenToTheWholeList) {
  PolicyContext memory_only;
  memory_only.settings = {{}, {.memory_clock = Mhz(800)}, {.memory_clock = Mhz(5000)}};
  PolicyContext tangled;
  tangled.settings = {{}, {.sm_clock = Mhz(1000), .power_limit = Watts(200)}};

  EXPECT_EQ(make_grid(memory_only, kClockFirst).knob, Knob::kMemoryClock);
  EXPECT_EQ(settings_of(make_grid(memory_only, kClockFirst).main()), (Indices{0, 2, 1}));
  EXPECT_EQ(settings_of(make_grid(tangled, kClockFirst).main()), (Indices{0, 1}));
}

TEST(NearestRung, TakesTheHigherOfTwoEquallyNear) {
  const Ladder ladder = {{0, 1.0}, {1, 0.9}, {2, 0.7}};

  EXPECT_EQ(nearest_rung(ladder, 0.8), 1U);
  EXPECT_EQ(nearest_rung(ladder, 5.0), 0U);
  EXPECT_EQ(nearest_rung(ladder, -1.0), 2U);
}

}  // namespace
}  // namespace hypermile
