// SPDX-License-Identifier: Apache-2.0
//
// What `detect` answers for jobs of which parts vary, come seldom, or come in bursts, on synthetic
// streams after recordings of real jobs.
#include <gtest/gtest.h>

#include "base/random.h"
#include "progress/recording_summary.h"

namespace hypermile {
namespace {

class VariedJobs : public ::testing::Test {
 protected:
  void launch(std::uint32_t kernel, Seconds after) {
    time_ = time_ + random_.uniform(0.7, 1.3) * after;
    Launch made;
    made.kernel = kernel;
    made.time = time_;
    launches_.push_back(made);
  }
  // Kernels `first` to `first` + `count` - 1, once each.
  void run(std::uint32_t first, std::uint32_t count, Seconds each) {
    for (std::uint32_t i = 0; i < count; ++i) launch(first + i, each);
  }
  void wait(Seconds passed) { time_ = time_ + passed; }
  // Many kernels in no order, as before a first step.
  void start_up(int count, Seconds all) {
    for (int i = 0; i < count; ++i) {
      launch(static_cast<std::uint32_t>(random_.uniform(1000, 1050)), all / count);
    }
  }
  // Bursts of graphs, one launch a step.
  void graphs(int bursts, int each, Seconds step) {
    for (int burst = 0; burst < bursts; ++burst) {
      for (int i = 0; i < each; ++i) launch(1, 0.1 * step);
      wait(0.9 * each * step);
    }
  }
  RecordingSummary found() const { return summarize_recording(launches_); }
  double seconds() const { return time_.since_origin().value(); }

  Random random_{3};
  Instant time_;
  std::vector<Launch> launches_;
};

TEST_F(VariedJobs, CountsGraphsOfWhichTwentyASecondFollowALongStartUp) {
  start_up(2400, Seconds(1.9));
  graphs(20, 10, milliseconds(50));

  EXPECT_NEAR(found().iterations, 200, 2);
}

TEST_F(VariedJobs, CountsGraphsInBurstsThatAreFarApart) {
  start_up(2400, Seconds(1.9));
  graphs(12, 50, milliseconds(14));

  EXPECT_NEAR(found().iterations, 600, 2);
}

TEST_F(VariedJobs, WhatIsLoggedNowAndThenIsNoIteration) {
  for (int step = 1; step <= 300; ++step) {
    run(1, 200, microseconds(100));
    if (step % 20 == 0) run(300, 2, microseconds(100));
  }

  EXPECT_NEAR(found().iterations, 300, 2);
}

TEST_F(VariedJobs, AnOptimizerOfFewLaunchesIsAnIteration) {
  for (int step = 1; step <= 300; ++step) {
    run(1, 200, microseconds(100));
    if (step % 4 == 0) run(300, 3, microseconds(100));
  }

  EXPECT_NEAR(found().iterations, 75, 1);
}

// The second half of a step launches what the first does, and the rest of the step as well.
TEST_F(VariedJobs, AStepOfTwoSimilarHalvesIsOneIteration) {
  for (int step = 0; step < 300; ++step) {
    run(1, 110, microseconds(60));
    run(1, 110, microseconds(60));
    run(200, 12, microseconds(60));
    run(1, 20, microseconds(60));
  }

  EXPECT_NEAR(found().iterations, 300, 2);
}

// The host makes random numbers for the layers and fills their weights, one layer after another.
TEST_F(VariedJobs, FillingTheWeightsIsNoIteration) {
  for (int layer = 0; layer < 12; ++layer) {
    run(500, 31, microseconds(10));
    wait(milliseconds(60));
  }
  start_up(1200, Seconds(0.3));
  for (int step = 0; step < 100; ++step) run(1, 400, microseconds(100));

  EXPECT_NEAR(found().iterations, 100, 2);
}

// A layer of a validation has kernels of its own, such as normalisation with fixed statistics.
TEST_F(VariedJobs, AnEpochIsNoIterationThoughItsValidationHasKernelsOfItsOwn) {
  for (int epoch = 0; epoch < 16; ++epoch) {
    for (int step = 0; step < 32; ++step) {
      run(1, 10, microseconds(40));
      for (int layer = 0; layer < 8; ++layer) run(20, 6, microseconds(40));
      run(30, 20, microseconds(40));
      for (int layer = 0; layer < 8; ++layer) run(60, 14, microseconds(40));
      run(90, 6, microseconds(40));
      wait(milliseconds(2));
    }
    wait(milliseconds(10));
    for (int batch = 0; batch < 8; ++batch) {
      run(1, 10, microseconds(40));
      for (int layer = 0; layer < 8; ++layer) run(120, 7, microseconds(40));
      run(130, 6, microseconds(40));
    }
  }

  // Behind each validation a step may be counted twice.
  EXPECT_NEAR(found().iterations, 512, 16);
}

}  // namespace
}  // namespace hypermile
