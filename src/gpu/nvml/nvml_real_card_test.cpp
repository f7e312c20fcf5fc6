// SPDX-License-Identifier: Apache-2.0
//
// What a real card reports, without changing it. Skipped on machines without a card; on others
// real_driver.h makes sure that HYPERMILE_READ_ONLY is set.
#include <gtest/gtest.h>

#include <cstdio>

#include "gpu/nvml/nvml_library.h"
#include "gpu/nvml/real_driver.h"

namespace hypermile {
namespace {

class RealCardTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!real_driver_present()) GTEST_SKIP() << "this machine has no NVIDIA driver";
    auto library = open_nvml("libnvidia-ml.so.1");
    ASSERT_TRUE(library.ok()) << library.error().line();
    const auto list = list_gpus(**library);
    ASSERT_TRUE(list.ok()) << list.error().line();
    ASSERT_FALSE(list->gpus.empty());
    auto gpu = open_gpu(*library, list->gpus[0].uuid, *clock_);
    ASSERT_TRUE(gpu.ok()) << gpu.error().line();
    gpu_ = *std::move(gpu);
  }
  std::unique_ptr<Clock> clock_ = make_real_clock();
  std::unique_ptr<Gpu> gpu_;
};

TEST_F(RealCardTest, ReportsItsIdentityAndCapabilities) {
  const GpuIdentity& who = gpu_->identity();
  const Capabilities& can = gpu_->capabilities();
  std::printf("%s %s %s driver %s: %zu SM clocks, %zu memory clocks, GPM %d\n", who.name.c_str(),
              who.uuid.text().c_str(), who.pci.text().c_str(), who.driver_version.c_str(),
              can.sm_clocks.size(), can.memory_clocks.size(), can.activity_metrics);

  EXPECT_TRUE(who.uuid.text().starts_with("GPU-"));
  EXPECT_FALSE(who.driver_version.empty());
  EXPECT_FALSE(can.sm_clocks.empty());
  EXPECT_FALSE(can.may_set) << "read-only";
}

TEST_F(RealCardTest, ReadsPlausibleSensors) {
  const Sample sample = gpu_->read(SensorSet::all()).value();
  std::printf("%.1f W instant, %.1f W average, %.1f J, %.0f MHz, %.0f MHz, %s\n",
              sample.power_instant.value_or(Watts(-1)).value(),
              sample.power_average.value_or(Watts(-1)).value(),
              sample.energy.value_or(Joules(-1)).value(), sample.sm_clock.value_or(Mhz(-1)).value(),
              sample.memory_clock.value_or(Mhz(-1)).value(),
              to_string(sample.reasons.value_or(EventReasons{})).c_str());

  EXPECT_TRUE(sample.power_instant.has_value());
  EXPECT_TRUE(sample.sm_clock.has_value());
  EXPECT_TRUE(sample.temperature.has_value());
}

TEST_F(RealCardTest, PowerHistoryLiesInTheRecentPastOnOurClock) {
  const auto history = gpu_->power_history(Instant());
  if (!history) GTEST_SKIP() << history.error().line();
  if (history->empty()) GTEST_SKIP() << "no samples yet";
  const Seconds age = clock_->now() - history->back().time;
  std::printf("%zu samples, the newest %.3f s old\n", history->size(), age.value());

  EXPECT_GT(age, Seconds(-1));
  EXPECT_LT(age, Seconds(60));
}

TEST_F(RealCardTest, ActivityIsSharesOfOne) {
  if (!gpu_->capabilities().activity_metrics) GTEST_SKIP() << "no GPM";
  EXPECT_EQ(gpu_->activity().error().code, ErrorCode::kNotReady);
  clock_->sleep_for(Seconds(0.2));

  const auto activity = gpu_->activity();

  ASSERT_TRUE(activity.ok()) << activity.error().line();
  std::printf("sm %.3f, dram %.3f\n", activity->sm.value_or(-1),
              activity->dram_bandwidth.value_or(-1));
  EXPECT_LE(activity->sm.value_or(0), 1);
}

TEST_F(RealCardTest, ListsProcesses) {
  EXPECT_TRUE(gpu_->processes().ok());
}

TEST_F(RealCardTest, RefusesEverySetterBecauseItIsReadOnly) {
  ASSERT_TRUE(read_only_mode());
  const Setting own{.sm_clock = gpu_->capabilities().sm_clocks.front()};

  EXPECT_EQ(all_applied(gpu_->apply(own)).error().code, ErrorCode::kReadOnly);
}

}  // namespace
}  // namespace hypermile
