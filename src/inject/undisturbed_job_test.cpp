// SPDX-License-Identifier: Apache-2.0
//
// The promises to the job (docs/design/injection.md), with the injected library inside it: forks,
// profilers, captures, limits, and missing parts.
#include "testing/training_fixture.h"

#include <algorithm>

namespace hypermile {
namespace {

using Names = std::vector<std::string>;
using UndisturbedJob = TrainingTest;

TEST_F(UndisturbedJob, AForkedChildIsNoticedAndLeftAlone) {
  train("init loop 1 1 0 fork loop 1 1 0");

  auto all = rings();

  ASSERT_EQ(all.size(), 2U);  // the parent's launches, and the ticks of the child
  EXPECT_EQ(all[0].kernels(), (Names{"kernel_0", "kernel_0"}));
  EXPECT_EQ(all[0].info.forks, 1U);
  const auto fork = std::find_if(all[0].batch.notices.begin(), all[0].batch.notices.end(),
                                 [](const auto& each) { return each.kind == RecordKind::kFork; });
  ASSERT_NE(fork, all[0].batch.notices.end());
  EXPECT_NE(output_.find("child " + std::to_string(fork->value)), std::string::npos);
  EXPECT_EQ(all[1].info.source, RingSource::kTicks);
  EXPECT_EQ(all[1].info.parent_pid, all[0].info.pid);
}

TEST_F(UndisturbedJob, AChildThatInitialisesCudaItselfGetsARingOfItsOwn) {
  set("HYPERMILE_NVTX_STEP", "train_step");

  train("nvtx train_step fork init loop 1 1 0");

  auto all = rings();
  ASSERT_EQ(all.size(), 3U);  // the parent's, the child's, the ticks of the child
  EXPECT_EQ(all[0].kernels(), Names{"kernel_0"});
  EXPECT_EQ(all[0].batch.ticks.size(), 7U);
  EXPECT_EQ(all[1].kernels(), Names{"in_child"});
  EXPECT_EQ(all[1].info.parent_pid, all[0].info.pid);
}

TEST_F(UndisturbedJob, AProgramThatIsExecutedGetsARingOfItsOwn) {
  train(std::string("init loop 2 1 0 exec ") + FAKE_TRAINING + " init loop 3 1 0");

  auto all = rings();

  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].batch.launches.size(), 2U);
  EXPECT_EQ(all[1].batch.launches.size(), 3U);
  EXPECT_EQ(all[0].info.pid, all[1].info.pid);
}

TEST_F(UndisturbedJob, AProcessThatNeverUsesCudaHasNoRing) {
  train("say hello");

  EXPECT_TRUE(rings().empty());
  EXPECT_EQ(output_, "hello\n");
}

TEST_F(UndisturbedJob, StepsAsideForAProfilerThatWasThereBefore) {
  train("profiler-linked init loop 3 1 0");

  const ReadRing ring = only_ring();

  EXPECT_EQ(ring.info.status, RingStatus::kOtherProfiler);
  EXPECT_TRUE(ring.batch.launches.empty());
  EXPECT_NE(output_.find("profiler 0 saw 2"), std::string::npos);
}

TEST_F(UndisturbedJob, MakesRoomForAProfilerThatIsLinkedToCupti) {
  train("init loop 3 1 0 profiler-linked loop 3 1 0");

  const ReadRing ring = only_ring();

  EXPECT_EQ(ring.info.status, RingStatus::kHandedOver);
  EXPECT_FALSE(ring.info.reason.empty());
  EXPECT_EQ(ring.kernels(), (Names{"kernel_0", "kernel_0", "kernel_0"}));
  EXPECT_NE(output_.find("profiler 0 saw 2"), std::string::npos);
  EXPECT_EQ(ring.batch.notices[ring.batch.notices.size() - 2].value,
            static_cast<std::uint32_t>(RingStatus::kHandedOver));
}

TEST_F(UndisturbedJob, MakesRoomForAProfilerThatLooksCuptiUp) {
  train("init loop 3 1 0 profiler-loaded loop 3 1 0");

  EXPECT_EQ(only_ring().info.status, RingStatus::kHandedOver);
  EXPECT_NE(output_.find("profiler 0 saw 2"), std::string::npos);
}

TEST_F(UndisturbedJob, ASecondProfilerGetsTheSameErrorAsWithoutUs) {
  train("init profiler-loaded profiler-linked");

  EXPECT_NE(output_.find("profiler 39 saw"), std::string::npos);
}

TEST_F(UndisturbedJob, WatchingCanPause) {
  train("init loop 2 1 0 pause 1 loop 4 1 0 pause 0 loop 1 1 0");

  EXPECT_EQ(only_ring().batch.launches.size(), 3U);
}

TEST_F(UndisturbedJob, APauseEndsWithAProfiler) {
  train("init loop 2 1 0 pause 1 profiler-loaded pause 0 loop 1 1 0");

  EXPECT_EQ(only_ring().batch.launches.size(), 2U);
  EXPECT_NE(output_.find("profiler 0 saw 2"), std::string::npos);
}

TEST_F(UndisturbedJob, SaysWhyWhenCuptiRefuses) {
  set("FAKE_CUPTI_BROKEN", "1");

  train("init loop 3 1 0 say done");

  const ReadRing ring = only_ring();
  EXPECT_EQ(ring.info.status, RingStatus::kCuptiFailed);
  EXPECT_FALSE(ring.info.reason.empty());
  EXPECT_EQ(output_, "done\n");
}

TEST_F(UndisturbedJob, WithoutAFolderTheJobRunsUnchanged) {
  set("HYPERMILE_RING_DIR", folder_->path() + "/missing");

  train("init loop 3 1 0 tick 3 - nvtx step say done");

  EXPECT_TRUE(rings().empty());
  EXPECT_EQ(output_, "nvtx 0\ndone\n");
}

TEST_F(UndisturbedJob, ALimitOnFileSizesDoesNotEndTheJob) {
  before_ = "ulimit -f 1000;";

  train("init loop 3 1 0 tick 1 - say done");

  EXPECT_TRUE(rings().empty());
  EXPECT_EQ(output_, "done\n");
}

TEST_F(UndisturbedJob, NeverBreaksACapture) {
  start(
      "init loop 2 1 0 capture 1 1 await loop 60 1 2000 capture 200 50 loop 60 1 2000 violations");
  ReadRing ring = wait_for_launches(3);
  ASSERT_TRUE(ring.reader->want_events(WantedEvents{ring.batch.launches[0].launch.kernel}).ok());
  go_on();
  finish();

  const auto info = ring.reader->info();
  ASSERT_TRUE(info.ok());
  EXPECT_GE(info->events_placed, 2U);
  EXPECT_NE(output_.find("violations 0"), std::string::npos);
}

TEST_F(UndisturbedJob, ADeadControllerCostsRecordsButNotTheJob) {
  train("init loop 20000 10 0 say done");

  const ReadRing ring = only_ring();

  EXPECT_EQ(output_, "done\n");
  EXPECT_EQ(ring.batch.launches.size() + ring.batch.notices.size(), kLargeRing.slots);
  EXPECT_GE(ring.batch.lost, 200'000 - kLargeRing.slots);
}

}  // namespace
}  // namespace hypermile
