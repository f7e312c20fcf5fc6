// SPDX-License-Identifier: Apache-2.0
#include "plan/cost_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/builtin_networks.h"

namespace hypermile {
namespace {

std::vector<PlanStage> stages_of(const char* network, Scope scope, std::int64_t batch) {
  return make_stages(*builtin_network(network, batch),
                     {.precision = Precision::kTf32, .scope = scope});
}

TEST(CostTable, StartsWithTheDefault) {
  const GpuSheet sheet = *load_gpu_sheet("a4000");

  const CostTable table = make_cost_table(sheet, stages_of("vgg16", Scope::kTrain, 32), {});

  EXPECT_TRUE(table.choices.front().setting.empty());
  EXPECT_EQ(table.choices.front().memory, sheet.constants.clocks.memory_default);
  EXPECT_EQ(table.costs.size(), table.stages * table.choices.size());
}

TEST(CostTable, KeepsTheDefaultWithinThePowerLimit) {
  const GpuSheet sheet = *load_gpu_sheet("a4000");

  const CostTable table = make_cost_table(sheet, stages_of("vgg16", Scope::kTrain, 32), {});

  const StageCost whole = table.uniform(0);
  EXPECT_TRUE(table.choices.front().capped);
  EXPECT_LE(whole.energy_j / whole.time_s, sheet.constants.limit.normal.value());
  EXPECT_GT(whole.energy_j / whole.time_s, 0.98 * sheet.constants.limit.normal.value());
}

TEST(CostTable, LetsAComputeBoundJobRunFasterWithMemorySlower) {
  const GpuSheet sheet = *load_gpu_sheet("a4000");

  const CostTable table = make_cost_table(sheet, stages_of("vgg16", Scope::kForward, 32), {});

  const auto slower = std::ranges::find_if(table.choices, [](const Choice& c) {
    return c.setting.memory_clock == Mhz(5001) && !c.setting.sm_clock;
  });
  ASSERT_NE(slower, table.choices.end());
  EXPECT_GT(slower->sm, table.choices.front().sm);
}

TEST(CostTable, NeverGetsFasterAtALowerClock) {
  const GpuSheet sheet = *load_gpu_sheet("rtx2000ada");

  const CostTable table = make_cost_table(sheet, stages_of("resnet50", Scope::kForward, 8), {});

  for (std::size_t i = 1; i < table.choices.size(); ++i) {
    if (table.choices[i].memory != table.choices[i - 1].memory) continue;
    for (std::size_t stage = 0; stage < table.stages; ++stage) {
      ASSERT_GE(table.at(stage, i).time_s, table.at(stage, i - 1).time_s * (1 - 1e-12));
    }
  }
}

TEST(CostTable, HasOnlySmClocksWhereMemoryCannotBeLocked) {
  const GpuSheet sheet = *load_gpu_sheet("v100-pcie");

  const CostTable table = make_cost_table(sheet, stages_of("resnet50", Scope::kForward, 8), {});

  for (const Choice& choice : table.choices) EXPECT_FALSE(choice.setting.memory_clock);
}

TEST(Idle, IsMostlyComputeInAMemoryBoundStage) {
  const GpuSheet sheet = *load_gpu_sheet("a4000");
  const auto stages = stages_of("resnet50", Scope::kForward, 32);
  const CostTable table = make_cost_table(sheet, stages, {});
  const auto relu = std::ranges::find(stages, "relu", &PlanStage::name);

  const StageIdle idle = idle_of(sheet, *relu, {}, table.choices.front());

  const double time = table.at(static_cast<std::size_t>(relu - stages.begin()), 0).time_s;
  EXPECT_GT(idle.compute_s, 0.95 * time);
  EXPECT_LT(idle.memory_s, 0.3 * time);
}

TEST(Ridge, IsPublishedForTheA4000) {
  const GpuSheet sheet = *load_gpu_sheet("a4000");

  // 19.17 TFLOP/s over the 412 GB/s that a copy reaches.
  EXPECT_NEAR(ridge(sheet, Precision::kFp32, Mhz(1560), Mhz(7001)), 19.17e12 / 412e9, 0.01);
}

}  // namespace
}  // namespace hypermile
