// SPDX-License-Identifier: Apache-2.0
//
// GPU times of steps that the program itself reports, on the fake driver and the fake CUPTI.
#include <algorithm>

#include "testing/training_fixture.h"

namespace hypermile {
namespace {

using StepEventsTest = TrainingTest;

// A step has 10 kernels of 0.2 ms. Events lie a whole number of 2 ms steps apart on the GPU. The
// first 32 may come at once; on average they are 50 ms apart on the host, which runs ahead.
void expect_steps_on_the_gpu(const ReadRing& launches, const std::vector<RingTick>& steps) {
  const auto& times = launches.batch.gpu_times;
  ASSERT_GE(times.size(), 3U);
  const auto index_of = [&](std::uint64_t number) {
    const auto found = std::ranges::find(steps, number, &RingTick::number);
    EXPECT_NE(found, steps.end());
    return found - steps.begin();
  };
  for (std::size_t i = 1; i < times.size(); ++i) {
    const auto from = index_of(times[i - 1].launch);
    const auto to = index_of(times[i].launch);
    EXPECT_NEAR((times[i].time - times[i - 1].time).value(), static_cast<double>(to - from) * 0.002,
                2e-6);
  }
  const Seconds lasted = steps.back().time - steps.front().time;
  EXPECT_LE(static_cast<double>(times.size()), 34 + lasted / milliseconds(50));
}

TEST_F(StepEventsTest, TimesNvtxStepsAtTheirFirstLaunch) {
  set("HYPERMILE_NVTX_STEP", "train_step");
  start("init nvtx train_step kernel-time 0.0002 loop 1 10 0 await steps 300 10 1000 violations");
  ReadRing ring = wait_for_launches(5);
  ASSERT_TRUE(ring.reader->want_step_events().ok());
  go_on();
  finish();
  ASSERT_TRUE(ring.reader->drain(now(), ring.batch).ok());

  expect_steps_on_the_gpu(ring, ring.batch.ticks);
  for (const GpuTime& each : ring.batch.gpu_times) EXPECT_FALSE(each.tick);
  EXPECT_NE(output_.find("violations 0"), std::string::npos);
}

TEST_F(StepEventsTest, TimesTicksAtTheirFirstLaunch) {
  start("init kernel-time 0.0002 loop 1 10 0 await ticked 300 10 1000");
  ReadRing ring = wait_for_launches(5);
  ASSERT_TRUE(ring.reader->want_step_events().ok());
  go_on();
  finish();
  ASSERT_TRUE(ring.reader->drain(now(), ring.batch).ok());
  auto all = rings();

  ASSERT_EQ(all.size(), 2U);
  expect_steps_on_the_gpu(ring, all[1].batch.ticks);
  for (const GpuTime& each : ring.batch.gpu_times) EXPECT_TRUE(each.tick);
}

TEST_F(StepEventsTest, AStepWhoseLaunchesAreNotWatchedHasNoTimeOnTheGpu) {
  start("init loop 1 1 0 tick 1 - await loop 1 1 0 await ticked 5 10 60000 await loop 100 10 1000");
  ReadRing ring = wait_for_launches(0);
  ASSERT_TRUE(ring.reader->want_step_events().ok());
  ASSERT_TRUE(ring.reader->want_dark(now() + Seconds(50)).ok());
  const auto drain_until = [&](auto done) {
    for (const Instant end = now() + Seconds(30); !done() && now() < end;)
      ASSERT_TRUE(ring.reader->drain(now(), ring.batch).ok());
  };
  go_on();
  drain_until([&] { return ring.notices(RecordKind::kWatch).size() == 1; });
  folder_->discover();
  RingReader* ticks = ring_of(RingSource::kTicks);
  ASSERT_NE(ticks, nullptr);
  RingBatch told;
  go_on();
  drain_until([&] { return ticks->drain(now(), told).ok() && told.ticks.size() == 6; });

  ASSERT_TRUE(ring.reader->want_dark(std::nullopt).ok());
  drain_until([&] { return ring.notices(RecordKind::kWatch).size() == 2; });
  go_on();
  finish();
  ASSERT_TRUE(ring.reader->drain(now(), ring.batch).ok());

  EXPECT_EQ(told.ticks.size(), 6U);
  EXPECT_TRUE(ring.batch.gpu_times.empty());
}

TEST_F(StepEventsTest, AStepIsNotTimedByTheLaunchOfAnotherThread) {
  start(
      "init loop 1 1 0 await tick 1 - sleep 0.06 tick 1 - threads 2 100 tick 1 - loop 100 1 1000");
  ReadRing ring = wait_for_launches(0);
  ASSERT_TRUE(ring.reader->want_step_events().ok());
  go_on();
  finish();

  const auto info = ring.reader->info();
  ASSERT_TRUE(info.ok());
  EXPECT_LE(info->events_placed + info->events_passed, 1U);
}

}  // namespace
}  // namespace hypermile
