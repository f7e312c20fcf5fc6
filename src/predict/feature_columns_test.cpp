// SPDX-License-Identifier: Apache-2.0
#include "predict/feature_columns.h"

#include <gtest/gtest.h>

#include <sstream>

namespace hypermile {
namespace {

Features read(const std::string& header, const std::string& cells) {
  std::istringstream in("gpu,workload,sm_mhz,mem_mhz,time_s,power_w,is_default," + header + "\n" +
                        "V100,w,1000,1000,0.001,125,1," + cells + "\n");
  const auto file = read_sweep(in, "test", {false, feature_columns()});
  EXPECT_TRUE(file);
  return features_of_row(file->rows.at(0));
}

TEST(FeatureColumns, TakeDcgmFieldsAsTheyAre) {
  const Features features = read("sm_active,tensor_active,dram_active", "0.9,0.5,");

  EXPECT_EQ(features.get(Feature::kSmActive), 0.9);
  EXPECT_EQ(features.get(Feature::kTensorActive), 0.5);
  EXPECT_EQ(features.get(Feature::kDramActive), std::nullopt);
}

TEST(FeatureColumns, TurnPercentAndBytesIntoSharesAndGigabytes) {
  const Features features =
      read("gpu_utilization,mem_copy_utilization,pcie_tx_bytes,pcie_rx_bytes", "90,40,1e9,2e9");

  EXPECT_DOUBLE_EQ(*features.get(Feature::kGpuUtilization), 0.9);
  EXPECT_DOUBLE_EQ(*features.get(Feature::kMemoryUtilization), 0.4);
  EXPECT_DOUBLE_EQ(*features.get(Feature::kPcieRate), 3);
}

TEST(FeatureColumns, TurnNvprofRatesAndCountsIntoSharesOfTheCardsPeak) {
  // 0.001 s at 1000 MHz are a million clocks; a V100 has 5120 FP32 lanes and 1024 bytes a clock.
  const Features features = read(
      "sm_efficiency,achieved_occupancy,dram_read_throughput,dram_write_throughput,inst_fp_32,ipc",
      "0.8,0.5,256,256,2.56e9,2");

  EXPECT_DOUBLE_EQ(*features.get(Feature::kSmActive), 0.8);
  EXPECT_DOUBLE_EQ(*features.get(Feature::kSmOccupancy), 0.4);
  EXPECT_DOUBLE_EQ(*features.get(Feature::kDramActive), 0.5);
  EXPECT_DOUBLE_EQ(*features.get(Feature::kFp32Active), 0.5);
  EXPECT_DOUBLE_EQ(*features.get(Feature::kIssueActive), 0.5);
  EXPECT_EQ(features.get(Feature::kFp64Active), std::nullopt);
}

TEST(FeatureColumns, TakeTheCardsLimitWhereTheRowHasNone) {
  EXPECT_DOUBLE_EQ(*read("sm_active", "1").get(Feature::kPowerShare), 0.5);
  EXPECT_DOUBLE_EQ(*read("power_limit_w", "200").get(Feature::kPowerShare), 0.625);
}

}  // namespace
}  // namespace hypermile
