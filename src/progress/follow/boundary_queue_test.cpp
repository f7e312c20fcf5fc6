// SPDX-License-Identifier: Apache-2.0
#include "progress/follow/boundary_queue.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

Instant at(double seconds) {
  return Instant() + Seconds(seconds);
}

class BoundaryQueueTest : public ::testing::Test {
 protected:
  // One launch per iteration, with records numbered from 100 in steps of 3.
  void boundary(double time, bool behind_interlude = false, std::uint32_t blocks = 0) {
    queue_.add_launch(100 + 3 * launches_, blocks);
    Boundary made;
    made.time = at(time);
    made.behind_interlude = behind_interlude;
    made.launch = launches_++;
    queue_.add(made);
  }
  void gpu_time(std::uint64_t launch, double time, double now, std::uint32_t axis = 1) {
    queue_.add(GpuTime{100 + 3 * launch, Seconds(time), axis, 0}, at(now));
  }

  BoundaryQueue queue_{ProgressDelays{Seconds(1), Seconds(5)}};
  std::uint64_t launches_ = 0;
};

TEST_F(BoundaryQueueTest, HoldsBoundariesForTheSensors) {
  boundary(1.0);
  boundary(1.5);

  EXPECT_TRUE(queue_.release(at(1.9), false).empty());
  EXPECT_EQ(queue_.release(at(2.1), false).size(), 1U);
  EXPECT_EQ(queue_.release(at(2.1), true).size(), 1U);
}

TEST_F(BoundaryQueueTest, JoinsGpuTimesByTheRecordTheyName) {
  boundary(1.0);
  boundary(1.1);
  gpu_time(1, 7.5, 1.2);

  const auto ready = queue_.release(at(3), false);

  ASSERT_EQ(ready.size(), 2U);
  EXPECT_FALSE(ready[0].boundary.gpu_time);
  ASSERT_TRUE(ready[1].boundary.gpu_time);
  EXPECT_EQ(ready[1].boundary.gpu_time->value(), 7.5);
}

// An evaluation of 0.9 s between two GPU times belongs to one iteration.
TEST_F(BoundaryQueueTest, DoesNotSpreadAnInterludeOverIterations) {
  boundary(1.00);
  boundary(1.05);
  boundary(2.00, /*behind_interlude=*/true);
  boundary(2.05);
  gpu_time(0, 0.01, 2.1);
  gpu_time(3, 1.06, 2.1);

  const auto ready = queue_.release(at(9), true);

  ASSERT_EQ(ready.size(), 4U);
  EXPECT_NEAR((ready[1].boundary.time - ready[0].boundary.time).value(), 0.05, 0.01);
  EXPECT_NEAR((ready[2].boundary.time - ready[1].boundary.time).value(), 0.95, 0.01);
  EXPECT_NEAR((ready[3].boundary.time - ready[2].boundary.time).value(), 0.05, 0.01);
}

TEST_F(BoundaryQueueTest, WaitsLongerWhileGpuTimesAreComing) {
  boundary(1.0);
  gpu_time(0, 1.2, 1.3);
  boundary(1.1);

  EXPECT_EQ(queue_.release(at(3), false).size(), 1U)
      << "the second boundary may still get a GPU time";
  gpu_time(1, 3.3, 3.4);
  EXPECT_EQ(queue_.release(at(4.2), false).size(), 1U);
}

// The GPU times of a host that launches an optimizer step of 8 s and then waits.
TEST_F(BoundaryQueueTest, WaitsAsLongAsGpuTimesAreUsuallyLate) {
  boundary(1.0);
  gpu_time(0, 1.2, 1.3);
  boundary(1.1);
  EXPECT_EQ(queue_.release(at(6.2), false).size(), 2U) << "nobody knows yet how late times are";
  gpu_time(1, 9.0, 9.1);

  boundary(9.5);
  EXPECT_TRUE(queue_.release(at(16), false).empty());
  gpu_time(2, 17.0, 17.1);

  const auto ready = queue_.release(at(18.1), false);
  ASSERT_EQ(ready.size(), 1U);
  EXPECT_TRUE(ready[0].boundary.gpu_time);
}

// Four iterations at once; the GPU takes 1 s for each.
TEST_F(BoundaryQueueTest, TellsWhenTheGpuReachedABoundaryAndNotWhenItWasLaunched) {
  for (const double time : {1.0, 1.1, 1.2, 1.3, 5.0}) boundary(time);
  gpu_time(0, 101.0, 1.1);
  gpu_time(1, 102.0, 2.1);
  gpu_time(4, 105.0, 5.1);

  const auto ready = queue_.release(at(7), false);

  ASSERT_EQ(ready.size(), 5U);
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(ready[static_cast<std::size_t>(i)].boundary.time.since_origin().value(), 1 + i,
                1e-3)
        << i;
  }
}

TEST_F(BoundaryQueueTest, DoesNotWaitForEver) {
  boundary(1.0);
  gpu_time(0, 1.2, 1.3);
  boundary(1.1);

  EXPECT_EQ(queue_.release(at(6.2), false).size(), 2U);
}

TEST_F(BoundaryQueueTest, MarksBoundariesThatNoWindowMaySpan) {
  boundary(1.0);
  queue_.begin_stretch();
  boundary(1.1);
  gpu_time(1, 5.0, 1.2, 1);
  boundary(1.2);
  gpu_time(2, 0.1, 1.3, 2);
  boundary(1.3);

  const auto ready = queue_.release(at(9), true);

  ASSERT_EQ(ready.size(), 4U);
  EXPECT_FALSE(ready[0].fresh);
  EXPECT_TRUE(ready[1].fresh) << "another stretch";
  EXPECT_TRUE(ready[2].fresh) << "another time axis";
  EXPECT_FALSE(ready[3].fresh);
}

TEST_F(BoundaryQueueTest, KeepsHostTimesAndGpuTimesApart) {
  boundary(1.0);
  boundary(1.1);
  boundary(1.2);
  boundary(1.3);
  gpu_time(2, 5.0, 1.4);
  gpu_time(3, 5.1, 1.4);

  const auto ready = queue_.release(at(9), true);

  ASSERT_EQ(ready.size(), 4U);
  EXPECT_FALSE(ready[1].fresh);
  EXPECT_TRUE(ready[2].fresh) << "back-filled boundaries before it have host times only";
  EXPECT_FALSE(ready[3].fresh);
}

TEST_F(BoundaryQueueTest, CountsTheBlocksOfAnIteration) {
  boundary(1.0, false, 7);
  boundary(1.1, false, 11);
  boundary(1.2, false, 5);

  const auto ready = queue_.release(at(9), true);

  ASSERT_EQ(ready.size(), 3U);
  EXPECT_FALSE(ready[0].boundary.blocks) << "nobody saw where it began";
  EXPECT_EQ(ready[1].boundary.blocks, 7);
  EXPECT_EQ(ready[2].boundary.blocks, 11);
}

TEST_F(BoundaryQueueTest, KnowsNoBlocksOfAnIterationThatHoldsSomethingElse) {
  boundary(1.0, false, 7);
  boundary(1.9, /*behind_interlude=*/true, 11);
  queue_.begin_stretch();
  boundary(2.0, false, 5);

  const auto ready = queue_.release(at(9), true);

  ASSERT_EQ(ready.size(), 3U);
  EXPECT_FALSE(ready[1].boundary.blocks);
  EXPECT_FALSE(ready[2].boundary.blocks);
}

TEST_F(BoundaryQueueTest, ForgetsAMistakenStretch) {
  boundary(1.0);
  queue_.begin_stretch();
  boundary(1.1);
  boundary(1.2);

  queue_.forget_stretch();

  EXPECT_EQ(queue_.release(at(9), true).size(), 1U);
}

TEST_F(BoundaryQueueTest, IgnoresGpuTimesOfOtherLaunches) {
  boundary(1.0);
  queue_.add(GpuTime{101, Seconds(9), 1, 0}, at(1.1));

  const auto ready = queue_.release(at(9), true);

  EXPECT_FALSE(ready.at(0).boundary.gpu_time);
}

}  // namespace
}  // namespace hypermile
