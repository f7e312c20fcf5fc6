// SPDX-License-Identifier: Apache-2.0
#include "gpu/recording_gpu.h"

#include <gtest/gtest.h>

#include "gpu/fake_gpu.h"
#include "gpu/faulty_gpu.h"

namespace hypermile {
namespace {

TEST(RecordingGpu, TellsEveryCallWithArgumentTimesAndOutcome) {
  VirtualClock clock;
  std::vector<GpuCallRecord> records;
  auto slow = std::make_unique<FaultyGpu>(
      std::make_unique<FakeGpu>(clock), clock,
      std::vector<ScriptedFault>{{GpuCall::kApply, fault::Delays{Seconds(2)}, 0, 1}});
  RecordingGpu gpu(std::move(slow), clock,
                   [&](const GpuCallRecord& record) { records.push_back(record); });

  (void)gpu.apply({.sm_clock = Mhz(1410)});
  (void)gpu.read(Sensor::kEnergy);
  (void)gpu.power_history(Instant());
  (void)gpu.activity();
  (void)gpu.processes();
  (void)gpu.reset(Knob::kSmClock);

  ASSERT_EQ(records.size(), 6U);
  EXPECT_EQ(records[0].call, GpuCall::kApply);
  EXPECT_EQ(records[0].gpu, GpuUuid("GPU-fake"));
  EXPECT_EQ(std::get<Setting>(records[0].argument), Setting{.sm_clock = Mhz(1410)});
  EXPECT_EQ(records[0].end - records[0].begin, Seconds(2));
  EXPECT_TRUE(records[0].verdict().ok());
  EXPECT_EQ(std::get<Result<Sample>>(records[1].outcome)->energy, Joules(600));
  EXPECT_EQ(records[3].verdict().error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(std::get<Knob>(records[5].argument), Knob::kSmClock);
}

TEST(RecordingGpu, PassesOnWhatTheWrappedGpuAnswers) {
  VirtualClock clock;
  RecordingGpu gpu(std::make_unique<FakeGpu>(clock), clock, [](const GpuCallRecord&) {});

  const ApplyOutcome outcome = gpu.apply({.sm_clock = Mhz(1)});

  EXPECT_EQ(all_applied(outcome).error().code, ErrorCode::kUsage);
  EXPECT_EQ(gpu.identity().uuid, GpuUuid("GPU-fake"));
}

}  // namespace
}  // namespace hypermile
