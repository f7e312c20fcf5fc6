// SPDX-License-Identifier: Apache-2.0
#include "sim/part_rate.h"

#include <gtest/gtest.h>

#include "testing/sim_fixture.h"

namespace hypermile {
namespace {

PartWork mixed_part() {
  PartWork part;
  part.flops[static_cast<std::size_t>(Precision::kFp32)] = 5e11;
  part.bytes = 2e10;
  part.launches = 100;
  part.launch_gap = microseconds(5);
  return part;
}

PartRate rate_at(const GpuConstants& gpu, const PartWork& part, double sm, double memory) {
  return part_rate(gpu, CardTraits(), part, sm, memory, 5, 1);
}

TEST(PartRate, MoreClockNeverTakesLongerAndNeverDrawsLess) {
  for (const std::string& key : gpu_sheet_keys()) {
    const GpuSheet sheet = sheet_of(key.c_str());
    const GpuConstants& gpu = sheet.constants;
    const double memory = gpu.clocks.memory_default.value();

    PartRate before = rate_at(gpu, mixed_part(), gpu.clocks.sm_min.value(), memory);
    for (double sm = gpu.clocks.sm_min.value() + 15; sm <= gpu.clocks.sm_max.value(); sm += 15) {
      const PartRate rate = rate_at(gpu, mixed_part(), sm, memory);

      EXPECT_LE(rate.busy_s, before.busy_s * (1 + 1e-12)) << key << " at " << sm;
      EXPECT_GE(mean_power(rate, 1, 5), mean_power(before, 1, 5) * 0.9999) << key << " at " << sm;
      before = rate;
    }
  }
}

TEST(PartRate, AFasterMemoryGearNeverTakesLonger) {
  const GpuSheet sheet = sheet_of("rtx3080ti");

  double before = 0;
  for (const Mhz gear : sheet.memory_clocks()) {
    const double time = rate_at(sheet.constants, mixed_part(), 1800, gear.value()).busy_s;
    EXPECT_GE(time, before);
    before = time;
  }
}

TEST(PartRate, NoClockShortensLaunchesAndHostTime) {
  const GpuConstants gpu = sheet_of("a100-40").constants;

  EXPECT_EQ(rate_at(gpu, mixed_part(), 210, 1215).wait_s, 100 * 5e-6);
  EXPECT_EQ(rate_at(gpu, mixed_part(), 1410, 1215).wait_s, 100 * 5e-6);
}

TEST(PartRate, ComputeAndMemoryOverlapWithoutHidingEachOther) {
  const GpuConstants gpu = sheet_of("v100-pcie").constants;
  PartWork compute = mixed_part();
  compute.bytes = 0;
  PartWork memory = mixed_part();
  memory.flops = {};

  const double both = rate_at(gpu, mixed_part(), 1380, 877).busy_s;
  const double alone_compute = rate_at(gpu, compute, 1380, 877).busy_s;
  const double alone_memory = rate_at(gpu, memory, 1380, 877).busy_s;

  EXPECT_GT(both, std::max(alone_compute, alone_memory));
  EXPECT_LT(both, alone_compute + alone_memory);
}

TEST(PartRate, BandwidthFallsBelowTheSmClocksKnee) {
  const Rates rates = sheet_of("v100-pcie").constants.rates;

  EXPECT_DOUBLE_EQ(bandwidth_share(rates, 1380), 1);
  EXPECT_DOUBLE_EQ(bandwidth_share(rates, 705), 0.68);
  EXPECT_DOUBLE_EQ(bandwidth_share(rates, 202.5), 0.19);
  EXPECT_NEAR(bandwidth_share(rates, 753.5), (0.68 + 0.83) / 2, 1e-9);
}

TEST(PartRate, VoltageIsFlatToItsKnee) {
  const PowerModel power = sheet_of("a4000").constants.power;

  EXPECT_EQ(voltage(power, 405), 1);
  EXPECT_EQ(voltage(power, 1350), 1);
  EXPECT_NEAR(voltage(power, 1752), 1.29, 0.005);
}

TEST(PartRate, AHotterDieLeaksMore) {
  const PowerModel power = sheet_of("h200").constants.power;

  EXPECT_GT(leakage_watts(power, CardTraits(), 80), leakage_watts(power, CardTraits(), 40) * 1.3);
}

TEST(PartRate, APrecisionTheCardLacksRunsOnSlowerPipes) {
  const GpuConstants gpu = sheet_of("v100-pcie").constants;
  PartWork part;
  part.flops[static_cast<std::size_t>(Precision::kTf32)] = 1e12;
  PartWork same = {};
  same.flops[static_cast<std::size_t>(Precision::kFp32)] = 1e12;

  EXPECT_EQ(rate_at(gpu, part, 1380, 877).busy_s, rate_at(gpu, same, 1380, 877).busy_s);
}

TEST(PartRate, ABlendOfPartsHasTheirTimeAndEnergy) {
  const GpuConstants gpu = sheet_of("h200").constants;
  PartWork other = mixed_part();
  other.bytes = 9e10;
  const PartRate a = rate_at(gpu, mixed_part(), 1500, 3201);
  const PartRate b = rate_at(gpu, other, 1500, 3201);
  const WeightedRate parts[] = {{a, 3}, {b, 1}};

  const PartRate whole = blend(parts, 2);

  const double time = 3 * (a.wait_s + a.busy_s) + b.wait_s + b.busy_s;
  const double energy = 3 * (a.wait_s + a.busy_s) * mean_power(a, 1, 20) +
                        (b.wait_s + b.busy_s) * mean_power(b, 1, 20);
  EXPECT_NEAR(whole.wait_s + whole.busy_s, time, 1e-12);
  EXPECT_NEAR(mean_power(whole, 1, 20) * time, energy, 1e-9);
}

}  // namespace
}  // namespace hypermile
