// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "testing/nvml/fake_nvml_fixture.h"

namespace hypermile {
namespace {

using NvmlReadTest = FakeNvmlTest;

nvml::PowerSample power_sample(double unix_seconds, unsigned milliwatts) {
  nvml::PowerSample sample{};
  sample.timestamp_us = static_cast<unsigned long long>(std::llround(unix_seconds * 1e6));
  sample.value.as_unsigned = milliwatts;
  return sample;
}

TEST_F(NvmlReadTest, GivesEverySensorInItsUnit) {
  const std::unique_ptr<Gpu> gpu = open();
  clock_.advance(Seconds(3));

  const Sample sample = gpu->read(SensorSet::all()).value();

  EXPECT_EQ(sample.time, Instant() + Seconds(3));
  EXPECT_EQ(sample.power_instant, Watts(310.5));
  EXPECT_EQ(sample.power_average, Watts(305.25));
  EXPECT_EQ(sample.energy, Joules(5000));
  EXPECT_EQ(sample.sm_clock, Mhz(1980));
  EXPECT_EQ(sample.memory_clock, Mhz(3201));
  EXPECT_DOUBLE_EQ(*sample.gpu_utilization, 0.97);
  EXPECT_DOUBLE_EQ(*sample.memory_utilization, 0.41);
  EXPECT_EQ(sample.temperature, Celsius(61));
  EXPECT_TRUE(sample.reasons->throttled());
  EXPECT_EQ(sample.power_limit, Watts(700));
}

TEST_F(NvmlReadTest, AsksTheDriverOnlyForWhatIsWanted) {
  const std::unique_ptr<Gpu> gpu = open();
  nvml_->calls.clear();

  const Sample sample = gpu->read(Sensor::kPowerInstant).value();

  EXPECT_TRUE(sample.power_instant.has_value());
  EXPECT_EQ(sample.power_average, std::nullopt);
  EXPECT_EQ(nvml_->calls.size(), 1U);
}

TEST_F(NvmlReadTest, FallsBackToTheOldPowerReadingFieldByField) {
  card().power_instant_status = nvml::kNotSupported;

  const Sample sample = open()->read(SensorSet::all()).value();

  EXPECT_EQ(sample.power_instant, Watts(299));
  EXPECT_EQ(sample.power_average, Watts(305.25));
}

TEST_F(NvmlReadTest, AbsurdValuesAreUnknown) {
  card().power_instant_mw = 7'100'000;  // above ten times the limit
  card().power_average_mw = nvml::kNotAvailable32;
  card().power_usage_mw = 0;
  card().utilization = {4'000'000, 101};
  card().utilization.memory = nvml::kNotAvailable32;
  card().sm_mhz = nvml::kNotAvailable32;
  card().memory_mhz = 0;
  card().celsius = -1000;
  card().reasons = nvml::kNotAvailable64;
  card().limit = nvml::kNotAvailable32;
  card().energy_mj = nvml::kNotAvailable64;

  const Sample sample = open()->read(SensorSet::all()).value();

  EXPECT_EQ(sample.power_instant, std::nullopt);
  EXPECT_EQ(sample.power_average, std::nullopt);
  EXPECT_EQ(sample.gpu_utilization, std::nullopt);
  EXPECT_EQ(sample.memory_utilization, std::nullopt);
  EXPECT_EQ(sample.sm_clock, std::nullopt);
  EXPECT_EQ(sample.memory_clock, std::nullopt);
  EXPECT_EQ(sample.temperature, std::nullopt);
  EXPECT_EQ(sample.reasons, std::nullopt);
  EXPECT_EQ(sample.power_limit, std::nullopt);
  EXPECT_EQ(sample.energy, std::nullopt);
}

TEST_F(NvmlReadTest, ASensorThatFailsIsUnknownAndALostGpuIsAnError) {
  const std::unique_ptr<Gpu> gpu = open();
  nvml_->returns["nvmlDeviceGetUtilizationRates"] = nvml::kNotSupported;

  EXPECT_EQ(gpu->read(SensorSet::all())->gpu_utilization, std::nullopt);

  nvml_->returns["nvmlDeviceGetUtilizationRates"] = nvml::kGpuIsLost;
  EXPECT_EQ(gpu->read(SensorSet::all()).error().code, ErrorCode::kGpuLost);
}

TEST_F(NvmlReadTest, UsesTheOldTemperatureCallWhereTheNewOneIsRefused) {
  nvml_->returns["nvmlDeviceGetTemperatureV"] = nvml::kArgumentVersionMismatch;

  EXPECT_EQ(open()->read(Sensor::kTemperature)->temperature, Celsius(61));
}

TEST_F(NvmlReadTest, PowerHistoryIsOnOurClockOldestFirst) {
  const std::unique_ptr<Gpu> gpu = open();
  card().power_samples = {power_sample(1'700'000'000.04, 320'000),
                          power_sample(1'700'000'000.02, 310'000),
                          power_sample(1'700'000'000.06, nvml::kNotAvailable32)};
  clock_.advance(Seconds(0.1));

  const auto history = gpu->power_history(Instant()).value();

  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].time, Instant() + milliseconds(20));
  EXPECT_EQ(history[0].power, Watts(310));
  EXPECT_EQ(history[1].time, Instant() + milliseconds(40));
}

TEST_F(NvmlReadTest, PowerHistoryNeverRepeatsASampleAndIsEmptyWhenNothingIsNew) {
  const std::unique_ptr<Gpu> gpu = open();
  card().power_samples = {power_sample(1'700'000'000.02, 310'000)};
  const Instant last = gpu->power_history(Instant()).value().back().time;

  EXPECT_TRUE(gpu->power_history(last).value().empty());
}

TEST_F(NvmlReadTest, PowerHistoryGrowsItsBufferWhenTheCardHoldsMore) {
  const std::unique_ptr<Gpu> gpu = open();
  for (int i = 1; i <= 300; ++i) {
    card().power_samples.push_back(power_sample(1'700'000'000 + i * 0.02, 300'000));
  }

  EXPECT_EQ(gpu->power_history(Instant())->size(), 300U);
}

TEST_F(NvmlReadTest, ActivityNeedsAnIntervalOfATenthOfASecond) {
  const std::unique_ptr<Gpu> gpu = open();

  EXPECT_EQ(gpu->activity().error().code, ErrorCode::kNotReady);
  clock_.advance(milliseconds(60));
  EXPECT_EQ(gpu->activity().error().code, ErrorCode::kNotReady);
  clock_.advance(milliseconds(60));
  const ActivityMetrics activity = gpu->activity().value();

  EXPECT_EQ(activity.from, Instant()) << "the older sample is kept over a too short interval";
  EXPECT_EQ(activity.to, Instant() + milliseconds(120));
  EXPECT_DOUBLE_EQ(*activity.sm, 0.5);
}

TEST_F(NvmlReadTest, ActivityTurnsNanAndNonsenseIntoUnknown) {
  const std::unique_ptr<Gpu> gpu = open();
  card().gpm = {{nvml::kGpmSm, std::nan("")},
                {nvml::kGpmFp64, -3},
                {nvml::kGpmFp32, 400},
                {nvml::kGpmFp16, 100.4},
                {nvml::kGpmPcieTx, 2500}};
  (void)gpu->activity();
  clock_.advance(milliseconds(100));

  const ActivityMetrics activity = gpu->activity().value();

  EXPECT_EQ(activity.sm, std::nullopt);
  EXPECT_EQ(activity.fp64, std::nullopt);
  EXPECT_EQ(activity.fp32, std::nullopt);
  EXPECT_EQ(activity.fp16, 1.0);
  EXPECT_EQ(activity.pcie_tx_mib_s, 2500);
  EXPECT_EQ(activity.dram_bandwidth, 0.5);
}

TEST_F(NvmlReadTest, ActivityRecoversAfterTheDriverRejectedASample) {
  const std::unique_ptr<Gpu> gpu = open();
  (void)gpu->activity();
  clock_.advance(milliseconds(100));
  nvml_->returns["nvmlGpmMetricsGet"] = nvml::kInvalidArgument;
  EXPECT_FALSE(gpu->activity().ok());
  nvml_->returns.clear();
  clock_.advance(milliseconds(100));

  EXPECT_EQ(gpu->activity()->from, Instant() + milliseconds(100));
}

TEST_F(NvmlReadTest, ListsManyProcesses) {
  for (unsigned pid = 1; pid <= 200; ++pid) card().processes.push_back({pid, pid * 1024});

  const auto processes = open()->processes().value();

  ASSERT_EQ(processes.size(), 200U);
  EXPECT_EQ(processes[199].pid, 200);
  EXPECT_EQ(processes[199].memory_bytes, 200U * 1024);
}

TEST_F(NvmlReadTest, ReadsTheLongerProcessLayoutOfDriver535) {
  nvml_->driver_version = "535.86.10";
  card().processes = {{11, 1000}, {22, 2000}, {33, 3000}};

  const auto processes = open()->processes().value();

  ASSERT_EQ(processes.size(), 3U);
  EXPECT_EQ(processes[2].pid, 33);
  EXPECT_EQ(processes[2].memory_bytes, 3000U);
}

}  // namespace
}  // namespace hypermile
