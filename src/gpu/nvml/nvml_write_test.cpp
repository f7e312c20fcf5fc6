// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "testing/nvml/fake_nvml_fixture.h"

namespace hypermile {
namespace {

// These tests call setters, but only of the test's own NVML. They are skipped if a real driver is
// present.
class NvmlWriteTest : public FakeNvmlTest {
 protected:
  void SetUp() override {
    if (real_driver_present()) GTEST_SKIP() << "this machine has an NVIDIA driver";
  }
  ScopedEnvironment writable_{"HYPERMILE_READ_ONLY", nullptr};
};

TEST_F(NvmlWriteTest, SmClockIsACeilingAndMemoryClockIsALock) {
  const std::unique_ptr<Gpu> gpu = open();

  const ApplyOutcome outcome =
      gpu->apply({.sm_clock = Mhz(1410), .memory_clock = Mhz(2201), .power_limit = Watts(450)});

  EXPECT_TRUE(all_applied(outcome).ok());
  EXPECT_EQ(outcome.size(), 3U);
  EXPECT_EQ(card().sm_lock, (std::pair<unsigned, unsigned>(345, 1410)));
  EXPECT_EQ(card().memory_lock, (std::pair<unsigned, unsigned>(2201, 2201)));
  EXPECT_EQ(card().limit, 450'000U);
  EXPECT_EQ(nvml_->devices[1].sm_lock, std::nullopt) << "the other GPU is left alone";
}

TEST_F(NvmlWriteTest, LeavesKnobsAloneThatTheSettingDoesNotName) {
  const std::unique_ptr<Gpu> gpu = open();

  EXPECT_TRUE(gpu->apply({}).empty());
  EXPECT_TRUE(all_applied(gpu->apply({.power_limit = Watts(300)})).ok());

  EXPECT_EQ(nvml_->setter_calls(), 1);
  EXPECT_EQ(card().sm_lock, std::nullopt);
}

TEST_F(NvmlWriteTest, EveryKnobGoesBackToTheDriversDefault) {
  const std::unique_ptr<Gpu> gpu = open();
  (void)gpu->apply({.sm_clock = Mhz(1410), .memory_clock = Mhz(2201), .power_limit = Watts(450)});

  for (const Knob knob : kAllKnobs) EXPECT_TRUE(gpu->reset(knob).ok());

  EXPECT_EQ(card().sm_lock, std::nullopt);
  EXPECT_EQ(card().memory_lock, std::nullopt);
  EXPECT_EQ(card().limit, 700'000U);
}

TEST_F(NvmlWriteTest, RefusesUnsupportedValuesBeforeTheDriverIsReached) {
  const std::unique_ptr<Gpu> gpu = open();

  const ApplyOutcome outcome =
      gpu->apply({.sm_clock = Mhz(1500), .memory_clock = Mhz(5000), .power_limit = Watts(701)});

  ASSERT_EQ(outcome.size(), 3U);
  EXPECT_EQ(outcome[0].result.error().line(),
            "this GPU has no SM clock of 1500 MHz; use 1410 or 1950 MHz");
  EXPECT_EQ(outcome[1].result.error().remedy, "use 3201 MHz");
  EXPECT_EQ(outcome[2].result.error().remedy, "use 200 to 700 W");
  EXPECT_EQ(nvml_->setter_calls(), 0);
}

TEST_F(NvmlWriteTest, GoesOnAfterAKnobThatFails) {
  const std::unique_ptr<Gpu> gpu = open();
  nvml_->returns["nvmlDeviceSetGpuLockedClocks"] = nvml::kNoPermission;

  const ApplyOutcome outcome = gpu->apply({.sm_clock = Mhz(1410), .power_limit = Watts(450)});

  EXPECT_EQ(outcome[0].result.error().code, ErrorCode::kPermission);
  EXPECT_TRUE(outcome[1].result.ok());
  EXPECT_EQ(card().limit, 450'000U);
}

TEST_F(NvmlWriteTest, ASetterThatFailsSaysSoWithOneLineWhateverTheCode) {
  const std::unique_ptr<Gpu> gpu = open();
  const Setting all{.sm_clock = Mhz(1410), .memory_clock = Mhz(2201), .power_limit = Watts(450)};

  for (int code = 1; code <= 40; ++code) {
    for (const char* setter :
         {"nvmlDeviceSetGpuLockedClocks", "nvmlDeviceSetMemoryLockedClocks",
          "nvmlDeviceSetPowerManagementLimit", "nvmlDeviceResetGpuLockedClocks",
          "nvmlDeviceResetMemoryLockedClocks"}) {
      nvml_->returns[setter] = static_cast<nvml::Return>(code);
    }

    for (const KnobOutcome& knob : gpu->apply(all)) {
      ASSERT_FALSE(knob.result.ok()) << code;
      EXPECT_EQ(knob.result.error().line().find('\n'), std::string::npos);
    }
    for (const Knob knob : kAllKnobs) EXPECT_FALSE(gpu->reset(knob).ok()) << code;
  }
}

TEST_F(NvmlWriteTest, FailsWhenAnotherLimitIsInForceThanTheOneAccepted) {
  const std::unique_ptr<Gpu> gpu = open();
  card().limit_held = 600'000;

  const ApplyOutcome outcome = gpu->apply({.power_limit = Watts(450)});

  EXPECT_EQ(outcome[0].result.error().message,
            "the driver accepted a power limit of 450 W but 600 W is in force");
}

TEST_F(NvmlWriteTest, BarriersForbidSettingButNotResetting) {
  const std::unique_ptr<Gpu> gpu = open();
  card().mig = 1;  // enabled while the GPU is open

  const ApplyOutcome outcome = gpu->apply({.sm_clock = Mhz(1410)});

  EXPECT_EQ(outcome[0].result.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(nvml_->setter_calls(), 0);
  EXPECT_TRUE(gpu->reset(Knob::kSmClock).ok());
}

TEST_F(FakeNvmlTest, ReadOnlyModeStopsEverySetterBeforeTheDriver) {
  for (const char* value : {"1", "yes", "true"}) {
    const ScopedEnvironment read_only("HYPERMILE_READ_ONLY", value);
    const std::unique_ptr<Gpu> gpu = open();

    const ApplyOutcome outcome =
        gpu->apply({.sm_clock = Mhz(1410), .memory_clock = Mhz(2201), .power_limit = Watts(450)});

    ASSERT_EQ(outcome.size(), 3U);
    for (const KnobOutcome& knob : outcome) {
      EXPECT_EQ(knob.result.error().code, ErrorCode::kReadOnly);
    }
    for (const Knob knob : kAllKnobs) {
      EXPECT_EQ(gpu->reset(knob).error().code, ErrorCode::kReadOnly);
    }
    EXPECT_FALSE(gpu->capabilities().may_set);
  }
  EXPECT_EQ(nvml_->setter_calls(), 0);
}

TEST_F(NvmlWriteTest, ReadOnlyModeAlsoBindsAGpuThatWasOpenedBefore) {
  const std::unique_ptr<Gpu> gpu = open();
  const ScopedEnvironment read_only("HYPERMILE_READ_ONLY", "1");

  EXPECT_EQ(gpu->reset(Knob::kSmClock).error().code, ErrorCode::kReadOnly);
  EXPECT_EQ(nvml_->setter_calls(), 0);
}

}  // namespace
}  // namespace hypermile
