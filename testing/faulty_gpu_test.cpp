// SPDX-License-Identifier: Apache-2.0
#include "testing/faulty_gpu.h"

#include <gtest/gtest.h>

#include <thread>

#include "testing/fake_gpu.h"

namespace hypermile {
namespace {

class FaultyGpuTest : public ::testing::Test {
 protected:
  FaultyGpu make(std::vector<ScriptedFault> script) {
    auto inner = std::make_unique<FakeGpu>(clock_);
    fake_ = inner.get();
    return FaultyGpu(std::move(inner), clock_, std::move(script));
  }
  VirtualClock clock_;
  FakeGpu* fake_ = nullptr;
};

TEST_F(FaultyGpuTest, FailsTheScriptedCallsAndNoOthers) {
  FaultyGpu gpu = make({{GpuCall::kRead, fault::Fails{{ErrorCode::kTimeout, "slow"}}, 1, 2}});

  EXPECT_TRUE(gpu.read(SensorSet::all()).ok());
  EXPECT_EQ(gpu.read(SensorSet::all()).error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(gpu.processes().ok());
  EXPECT_EQ(gpu.read(SensorSet::all()).error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(gpu.read(SensorSet::all()).ok());
}

TEST_F(FaultyGpuTest, DelaysOnTheClock) {
  FaultyGpu gpu = make({{GpuCall::kApply, fault::Delays{Seconds(3)}, 0, 1}});

  EXPECT_TRUE(all_applied(gpu.apply({.sm_clock = Mhz(1410)})).ok());

  EXPECT_EQ(clock_.now(), Instant() + Seconds(3));
}

TEST_F(FaultyGpuTest, HangsUntilReleased) {
  const auto gate = std::make_shared<Gate>();
  FaultyGpu gpu = make({{GpuCall::kProcesses, fault::Hangs{gate}, 0, 1}});
  std::thread caller([&] { EXPECT_TRUE(gpu.processes().ok()); });

  gate->await_visitors(1);
  gate->open();

  caller.join();
}

TEST_F(FaultyGpuTest, ALostDeviceStaysLostForEveryCall) {
  FaultyGpu gpu = make({{GpuCall::kRead, fault::LosesDevice{}, 1, 1}});
  EXPECT_TRUE(gpu.read(SensorSet::all()).ok());

  EXPECT_EQ(gpu.read(SensorSet::all()).error().code, ErrorCode::kGpuLost);
  EXPECT_EQ(gpu.read(SensorSet::all()).error().code, ErrorCode::kGpuLost);
  EXPECT_EQ(gpu.reset(Knob::kSmClock).error().code, ErrorCode::kGpuLost);
  EXPECT_EQ(all_applied(gpu.apply({.sm_clock = Mhz(1410)})).error().code, ErrorCode::kGpuLost);
}

TEST_F(FaultyGpuTest, AnIgnoredRequestSucceedsAndTheOldClockStays) {
  FaultyGpu gpu = make({{GpuCall::kApply, fault::IgnoresRequest{}}});

  const ApplyOutcome outcome = gpu.apply({.sm_clock = Mhz(1410)});

  EXPECT_EQ(outcome.size(), 1U);
  EXPECT_TRUE(all_applied(outcome).ok());
  EXPECT_EQ(gpu.read(Sensor::kClocks)->sm_clock, Mhz(1980));
}

TEST_F(FaultyGpuTest, AnIgnoredResetLeavesTheSetting) {
  FaultyGpu gpu = make({{GpuCall::kReset, fault::IgnoresRequest{}}});
  (void)gpu.apply({.sm_clock = Mhz(1410)});

  EXPECT_TRUE(gpu.reset(Knob::kSmClock).ok());

  EXPECT_EQ(fake_->held.sm_clock, Mhz(1410));
}

TEST_F(FaultyGpuTest, ShowsAnotherClockThanTheOneAskedFor) {
  FaultyGpu gpu = make({{GpuCall::kRead, fault::ShowsSmClock{Mhz(1200)}}});

  EXPECT_EQ(gpu.read(Sensor::kClocks)->sm_clock, Mhz(1200));
}

TEST_F(FaultyGpuTest, ThrottlesWithReasonAndLowerClock) {
  FaultyGpu gpu =
      make({{GpuCall::kRead, fault::Throttles{{EventReasons::kHardwareThermal}, Mhz(900)}, 1, 1}});

  EXPECT_FALSE(gpu.read(SensorSet::all())->reasons->throttled());
  const Sample hot = gpu.read(SensorSet::all()).value();

  EXPECT_TRUE(hot.reasons->throttled());
  EXPECT_EQ(hot.sm_clock, Mhz(900));
}

TEST_F(FaultyGpuTest, AStuckCounterStopsWhileTimeGoesOn) {
  FaultyGpu gpu = make({{GpuCall::kRead, fault::SticksReadings{.energy = true, .power = false}}});
  clock_.advance(Seconds(1));
  const Sample first = gpu.read(SensorSet::all()).value();
  clock_.advance(Seconds(1));

  const Sample second = gpu.read(SensorSet::all()).value();

  EXPECT_EQ(second.energy, first.energy);
  EXPECT_GT(second.time, first.time);
}

}  // namespace
}  // namespace hypermile
