// SPDX-License-Identifier: Apache-2.0
//
// What the injected library records inside a training process that runs on the fake driver and the
// fake CUPTI.
#include <algorithm>

#include "testing/training_fixture.h"

namespace hypermile {
namespace {

using Names = std::vector<std::string>;
using InjectTest = TrainingTest;

TEST_F(InjectTest, RecordsEveryLaunchInOrder) {
  train("init loop 2 3 0");

  const ReadRing ring = only_ring();

  EXPECT_EQ(ring.kernels(), (Names{"kernel_0", "kernel_1", "kernel_2",  //
                                   "kernel_0", "kernel_1", "kernel_2"}));
  EXPECT_EQ(ring.batch.launches[0].launch.blocks, 8U);
  EXPECT_EQ(ring.info.process, "fake_training");
  EXPECT_EQ(ring.info.driver_version, 13000U);
  EXPECT_EQ(ring.info.status, RingStatus::kEnded);
  EXPECT_EQ(ring.batch.lost + ring.batch.damaged, 0U);
  EXPECT_TRUE(
      std::is_sorted(ring.batch.launches.begin(), ring.batch.launches.end(),
                     [](const auto& a, const auto& b) { return a.launch.time < b.launch.time; }));
}

TEST_F(InjectTest, SeesEveryWayToLaunch) {
  train("init entries");

  const ReadRing ring = only_ring();

  EXPECT_EQ(ring.kernels(), (Names{"plain", "plain_ptsz", "ex", "ex_ptsz", "cooperative", "multi",
                                   "multi", "grid_async"}));
  for (const NumberedLaunch& each : ring.batch.launches)
    EXPECT_EQ(each.launch.blocks, &each == &ring.batch.launches.back() ? 15U : 105U);
  EXPECT_NE(ring.batch.launches[1].launch.stream, ring.batch.launches[0].launch.stream);
}

TEST_F(InjectTest, MergesThreadsAndTellsTheirStreamsApart) {
  train("init threads 4 5000");

  const ReadRing ring = only_ring();

  EXPECT_EQ(ring.counts(),
            (std::map<std::string, int>{
                {"thread_0", 5000}, {"thread_1", 5000}, {"thread_2", 5000}, {"thread_3", 5000}}));
  std::map<std::uint32_t, std::uint32_t> stream_of;
  for (const NumberedLaunch& each : ring.batch.launches)
    EXPECT_EQ(stream_of.emplace(each.launch.kernel, each.launch.stream).first->second,
              each.launch.stream);
}

TEST_F(InjectTest, LaunchesIntoACaptureAreNotRecorded) {
  train("init capture 5 3 violations");

  const ReadRing ring = only_ring();

  const auto counts = ring.counts();
  EXPECT_EQ(counts.count("captured"), 0U);
  EXPECT_EQ(counts.at("beside"), 5);
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(ring.info.in_capture, 5U);
  EXPECT_EQ(ring.batch.launches.back().launch.blocks, 0U);
  EXPECT_EQ(std::count_if(counts.begin(), counts.end(),
                          [](const auto& each) {
                            return each.first.starts_with("graph ") && each.second == 3;
                          }),
            1);
  EXPECT_NE(output_.find("violations 0"), std::string::npos);
}

TEST_F(InjectTest, AReusedHandleGetsItsNewName) {
  train("init reload");

  EXPECT_EQ(only_ring().kernels(), (Names{"before", "after"}));
}

TEST_F(InjectTest, NoticesEveryContextAndItsDevice) {
  train("init loop 1 1 0 context 7 1 context 7 1 context 9 2");

  const ReadRing ring = only_ring();

  EXPECT_EQ(ring.info.contexts, 3U);
  std::vector<std::uint32_t> devices;
  for (const RingNotice& each : ring.batch.notices)
    if (each.kind == RecordKind::kContext) devices.push_back(each.value);
  EXPECT_EQ(devices, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST_F(InjectTest, NamesBeyondTheTableShareOneId) {
  train("init names 8300 names 8300");

  const ReadRing ring = only_ring();

  const auto counts = ring.counts();
  EXPECT_EQ(counts.size(), kLargeRing.names);
  EXPECT_EQ(counts.at("(other names)"), 2 * (8300 - static_cast<int>(kLargeRing.other_names())));
  EXPECT_GE(ring.info.names_lost, 8300 - kLargeRing.other_names());
}

TEST_F(InjectTest, RecordsGpuEventsAtTheRequestedBoundary) {
  start("init kernel-time 0.0002 loop 2 10 0 await loop 300 10 1000 violations");
  ReadRing ring = wait_for_launches(10);
  const std::uint32_t boundary = ring.batch.launches[4].launch.kernel;  // kernel_4
  ASSERT_TRUE(ring.reader->want_events(WantedEvents{boundary}).ok());
  go_on();
  finish();
  ASSERT_TRUE(ring.reader->drain(now(), ring.batch).ok());

  // An iteration has 10 kernels of 0.2 ms. Events are on the GPU a whole number of 2 ms iterations
  // apart, however far the host runs ahead. The first 32 may come at once; on average they are 50
  // ms of launching apart.
  ASSERT_GE(ring.batch.gpu_times.size(), 2U);
  const auto& times = ring.batch.gpu_times;
  const auto launch_of = [&](std::uint64_t number) {
    return std::find_if(ring.batch.launches.begin(), ring.batch.launches.end(),
                        [&](const auto& each) { return each.number == number; });
  };
  for (std::size_t i = 1; i < times.size(); ++i) {
    const auto from = launch_of(times[i - 1].launch);
    const auto to = launch_of(times[i].launch);
    ASSERT_NE(to, ring.batch.launches.end());
    EXPECT_EQ(to->launch.kernel, boundary);
    const auto iterations = static_cast<double>(to - from) / 10;
    EXPECT_NEAR((times[i].time - times[i - 1].time).value(), iterations * 0.002, 2e-6);
  }
  const Seconds lasted =
      ring.batch.launches.back().launch.time - ring.batch.launches.front().launch.time;
  EXPECT_LE(static_cast<double>(times.size()), 34 + lasted / milliseconds(50));
  EXPECT_NE(output_.find("violations 0"), std::string::npos);
}

TEST_F(InjectTest, RecordsEventsOnlyAfterTheRequestedKernel) {
  start("init loop 2 3 0 await loop 200 3 1000");
  ReadRing ring = wait_for_launches(5);
  // kernel_1 never follows kernel_2.
  ASSERT_TRUE(ring.reader
                  ->want_events(WantedEvents{ring.batch.launches[1].launch.kernel,
                                             ring.batch.launches[2].launch.kernel})
                  .ok());
  go_on();
  finish();

  const auto info = ring.reader->info();
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->events_placed + info->events_passed, 0U);
}

TEST_F(InjectTest, ReplaysARecording) {
  std::ofstream(folder_->path() + "/recording.csv") << "t_s,kernel\n0.5,3\n0.6,4\n0.7,3\n";

  train("init replay " + folder_->path() + "/recording.csv 0");

  EXPECT_EQ(only_ring().kernels(), (Names{"kernel_3", "kernel_4", "kernel_3"}));
}

TEST_F(InjectTest, EveryStartOfTheNvtxRangeIsAStep) {
  set("HYPERMILE_NVTX_STEP", "train_step");

  train("nvtx train_step init loop 1 1 0");

  const ReadRing ring = only_ring();
  ASSERT_EQ(ring.batch.ticks.size(), 7U);
  for (const RingTick& each : ring.batch.ticks) {
    EXPECT_TRUE(each.nvtx);
    EXPECT_EQ(ring.reader->name(each.name.value()), "train_step");
  }
  EXPECT_EQ(ring.kernels(), Names{"kernel_0"});
}

TEST_F(InjectTest, RangesWithAnotherNameAreIgnored) {
  set("HYPERMILE_NVTX_STEP", "train_step");

  train("nvtx validation");

  EXPECT_TRUE(only_ring().batch.ticks.empty());
}

TEST_F(InjectTest, WithoutAStepNvtxIsLeftAlone) {
  train("nvtx train_step");

  EXPECT_EQ(output_, "nvtx 0\n");
  EXPECT_TRUE(rings().empty());
}

TEST_F(InjectTest, TicksCarryTheirPhase) {
  train("tick 3 train tick 2 eval tick 1 -");

  const ReadRing ring = only_ring();

  EXPECT_EQ(ring.info.source, RingSource::kTicks);
  ASSERT_EQ(ring.batch.ticks.size(), 6U);
  EXPECT_EQ(ring.batch.ticks[0].name, ring.batch.ticks[2].name);
  EXPECT_EQ(ring.reader->name(ring.batch.ticks[3].name.value()), "eval");
  EXPECT_EQ(ring.batch.ticks[5].name, std::nullopt);
  EXPECT_FALSE(ring.batch.ticks[0].nvtx);
}

}  // namespace
}  // namespace hypermile
