// SPDX-License-Identifier: Apache-2.0
#include "measure/features.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hypermile {
namespace {

Window baseline() {
  Window window;
  window.duration = Seconds(2);
  window.power = Watts(350);
  window.sm_clock = Mhz(1755);
  window.throttled_share = 0.1;
  return window;
}

TEST(Features, NamesAndFeaturesAreOneToOne) {
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    const auto feature = static_cast<Feature>(i);

    EXPECT_EQ(feature_from(name_of(feature)), feature);
  }
  EXPECT_EQ(feature_from("no_such_feature"), std::nullopt);
}

TEST(Features, AreMostlyMissingWithoutOtherSources) {
  const Features features = features_of(baseline(), {});

  EXPECT_EQ(features.known(), 1U);
  EXPECT_EQ(features.get(Feature::kThrottledShare), 0.1);
  EXPECT_EQ(features.get(Feature::kDramActive), std::nullopt);
}

TEST(Features, RelateTheWindowToTheCard) {
  FeatureSources sources;
  sources.power_limit = Watts(700);
  sources.idle_power = Watts(70);
  sources.highest_sm_clock = Mhz(1980);
  sources.launches = 6000;
  sources.kernel_time = Seconds(1.5);

  const Features features = features_of(baseline(), sources);

  EXPECT_DOUBLE_EQ(*features.get(Feature::kPowerShare), 0.5);
  EXPECT_DOUBLE_EQ(*features.get(Feature::kPowerOverIdle), 5);
  EXPECT_DOUBLE_EQ(*features.get(Feature::kSmClockShare), 1755.0 / 1980);
  EXPECT_DOUBLE_EQ(*features.get(Feature::kLaunchRate), 3);
  EXPECT_DOUBLE_EQ(*features.get(Feature::kIdleShare), 0.25);
}

TEST(Features, TakeActivityAsTheCardReportsIt) {
  FeatureSources sources;
  sources.activity.emplace();
  sources.activity->any_tensor = 0.6;
  sources.activity->dram_bandwidth = 0.3;
  sources.activity->pcie_tx_mib_s = 1000;
  sources.activity->pcie_rx_mib_s = 907.3486328125;

  const Features features = features_of(baseline(), sources);

  EXPECT_EQ(features.get(Feature::kTensorActive), 0.6);
  EXPECT_EQ(features.get(Feature::kDramActive), 0.3);
  EXPECT_NEAR(*features.get(Feature::kPcieRate), 2, 1e-9);
  EXPECT_EQ(features.get(Feature::kNvlinkRate), std::nullopt);
  EXPECT_EQ(features.get(Feature::kFp64Active), std::nullopt);
}

TEST(Features, KeepImpossibleReadingsMissing) {
  FeatureSources sources;
  sources.gpu_utilization = NAN;
  sources.memory_utilization = -0.5;
  sources.power_limit = Watts(0);
  sources.launches = 5;
  Window window = baseline();
  window.duration = Seconds(0);

  const Features features = features_of(window, sources);

  EXPECT_EQ(features.get(Feature::kGpuUtilization), std::nullopt);
  EXPECT_EQ(features.get(Feature::kMemoryUtilization), std::nullopt);
  EXPECT_EQ(features.get(Feature::kPowerShare), std::nullopt);
  EXPECT_EQ(features.get(Feature::kLaunchRate), std::nullopt);
}

}  // namespace
}  // namespace hypermile
