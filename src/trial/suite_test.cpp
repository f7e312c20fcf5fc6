// SPDX-License-Identifier: Apache-2.0
//
// Every workload file that comes with the program loads, and together they are a good mix.
#include <gtest/gtest.h>

#include <map>

#include "sim/steady_state.h"
#include "testing/simulated_job.h"

namespace hypermile {
namespace {

class Suite : public ::testing::Test {
 protected:
  void SetUp() override {
    sheet_ = job_for_test(1).sheet;  // also finds the data files
    for (const std::string& key : workload_keys()) {
      auto workload = load_workload(key);
      ASSERT_TRUE(workload.ok()) << workload.error().line();
      workloads_.push_back(std::move(*workload));
    }
  }
  double default_seconds(const Workload& workload) const {
    return steady_state(sheet_.constants, workload.load, {}).time.value();
  }

  GpuSheet sheet_;
  std::vector<Workload> workloads_;
};

TEST_F(Suite, HasAtLeastTheSeventyOneWorkloadsOfThePaperAndManyFamilies) {
  std::map<std::string, int> families;
  std::map<std::string, int> tags;
  for (const Workload& workload : workloads_) {
    ++families[workload.family];
    for (const std::string& tag : workload.tags) ++tags[tag];
  }

  EXPECT_GE(workloads_.size(), 71U);
  EXPECT_GE(families.size(), 8U);
  EXPECT_EQ(tags["ai-bench"], 16);
  EXPECT_EQ(tags["benchmarking-gnns"], 56);
}

TEST_F(Suite, IterationsTakeAMillisecondToTenSeconds) {
  double shortest = 1e9;
  double longest = 0;
  for (const Workload& workload : workloads_) {
    const double seconds = default_seconds(workload);
    EXPECT_GT(seconds, 0.0004) << workload.key;
    EXPECT_LT(seconds, 20) << workload.key;
    shortest = std::min(shortest, seconds);
    longest = std::max(longest, seconds);
  }

  EXPECT_LT(shortest, 0.0015);
  EXPECT_GT(longest, 8);
}

TEST_F(Suite, EveryJobHasALengthThatLeavesRoomForASearch) {
  for (const Workload& workload : workloads_) {
    EXPECT_GE(workload.iterations, 300U) << workload.key;
    EXPECT_GT(static_cast<double>(workload.iterations) * default_seconds(workload), 600)
        << workload.key;
  }
}

TEST_F(Suite, SomeAreBoundByComputeSomeByMemorySomeByWaiting) {
  int compute = 0;
  int memory = 0;
  int waiting = 0;
  for (const Workload& workload : workloads_) {
    const Seconds base = steady_state(sheet_.constants, workload.load, {}).time;
    const Setting slow_core = {.sm_clock = Mhz(1200)};
    const Setting slow_memory = {.memory_clock = Mhz(5001)};
    const double core = steady_state(sheet_.constants, workload.load, slow_core).time / base;
    const double dram = steady_state(sheet_.constants, workload.load, slow_memory).time / base;
    compute += core > 1.2;
    memory += dram > 1.3;
    waiting += core < 1.05 && dram < 1.15;
  }

  EXPECT_GE(compute, 10);
  EXPECT_GE(memory, 10);
  EXPECT_GE(waiting, 10);
}

}  // namespace
}  // namespace hypermile
