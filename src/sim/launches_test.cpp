// SPDX-License-Identifier: Apache-2.0
#include "sim/launches.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "sim/steady_state.h"
#include "testing/sim_fixture.h"

namespace hypermile {
namespace {

// Plays a job and checks what every stream of launches must obey.
class Stream final : public JobObserver, public LaunchSink {
 public:
  Stream(const char* gpu, const Workload& workload, std::uint64_t iterations)
      : load_(workload.load), emitter_(load_) {
    const GpuConstants card = typical(sheet_of(gpu).constants);
    SimGpuState state = make_sim_gpu(card, 1, kNoEffects);
    start_job(state, card, load_, iterations);
    while (state.job.running && state.now_s < 1e4) {
      advance(state, card, &load_, Seconds(state.now_s + 1), this);
    }
    EXPECT_FALSE(state.job.running);
  }
  void finished(const FinishedUnit& unit) override {
    now_s = unit.start_s + unit.duration_s;
    emitter_.emit(unit, *this);
    units.push_back(unit);
  }
  void launch(const SimLaunch& launch) override {
    EXPECT_TRUE(launches.empty() || launch.time_s >= launches.back().time_s);
    // The host's pace is random, so that its last launches of a stretch may come a little late.
    EXPECT_LE(launch.time_s, now_s + 2e-4) << "a launch that has not happened yet";
    if (!launch.gpu_s) waiting.push_back(launch.time_s);
    launches.push_back(launch);
  }
  void reached(double gpu_s) override {
    ASSERT_LT(reached_count, waiting.size());
    EXPECT_GE(gpu_s, waiting[reached_count] - 1e-9) << "before it was launched";
    if (gpu_s > waiting[reached_count] + 0.01) ++far_ahead;
    ++reached_count;
  }

  double now_s = 0;
  std::vector<FinishedUnit> units;
  std::vector<SimLaunch> launches;
  std::vector<double> waiting;  // host times of launches that came without a GPU time
  std::size_t reached_count = 0, far_ahead = 0;

 private:
  Load load_;
  LaunchEmitter emitter_;
};

TEST(Launches, AHostThatDispatchesTenStepsLaunchesThemTogetherAndWaits) {
  const Stream stream("h200", workload_of("jax_bursts"), 200);

  const std::vector<double>& steps = stream.waiting;
  EXPECT_EQ(steps.size(), 200U);
  EXPECT_EQ(stream.reached_count, 200U);
  EXPECT_GT(stream.far_ahead, 150U) << "most of ten steps wait for the GPU";
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const double apart = steps[i] - steps[i - 1];
    if (i % 10 == 0) {
      EXPECT_GT(apart, 0.09) << i;  // blocked until the GPU has done ten steps
    } else {
      EXPECT_LT(apart, 0.006) << i;
    }
  }
  EXPECT_EQ(stream.launches.back().blocks, 0U) << "a graph's grid is not known";
}

TEST(Launches, WhatRunsAtTheStartRunsOnceAndBeforeTheTraining) {
  const Stream stream("h200", workload_of("jax_bursts"), 200);

  EXPECT_EQ(stream.launches.size(), 200U + 2645);
  EXPECT_EQ(stream.units.front().phase, 2U);
  bool training = false;
  for (const FinishedUnit& unit : stream.units) {
    training = training || unit.phase == 0;
    EXPECT_FALSE(training && unit.phase == 2) << unit.start_s;
  }
}

TEST(Launches, AWholeStepMayBeLaunchedAtOnce) {
  const Stream stream("rtx3080ti", workload_of("gpt2_host_ahead"), 3);

  constexpr std::size_t kStep = 8 * (240 + 470) + 20;
  ASSERT_EQ(stream.launches.size(), 3 * kStep);
  EXPECT_EQ(stream.reached_count, 3 * kStep);
  EXPECT_LT(stream.launches[kStep - 1].time_s - stream.launches[0].time_s, 0.1);
  EXPECT_GT(stream.launches[kStep].time_s - stream.launches[kStep - 1].time_s, 3);
}

TEST(Launches, RolloutsHaveRandomLengthsWithinTheirBounds) {
  const Stream stream("h200", workload_of("ppo_rollouts"), 8000);

  std::vector<std::uint64_t> rollouts;
  bool before = false;
  for (const FinishedUnit& unit : stream.units) {
    const bool rollout = unit.phase == 1;
    if (rollout && !before) rollouts.push_back(0);
    if (rollout) rollouts.back() += unit.count;
    before = rollout;
  }
  ASSERT_EQ(rollouts.size(), 99U);
  EXPECT_GT(std::set(rollouts.begin(), rollouts.end()).size(), 50U);
  for (const std::uint64_t length : rollouts) {
    EXPECT_GE(length, 100U);
    EXPECT_LE(length, 350U);
  }
}

TEST(Launches, MixedLengthsShareTheirKernelsAndDifferInNumberAndBlocks) {
  const Stream stream("h200", workload_of("mixed_lengths"), 300);

  std::set<std::uint32_t> kernels;
  std::set<std::uint64_t> blocks;
  for (const SimLaunch& launch : stream.launches) {
    kernels.insert(launch.kernel);
    if (launch.kernel == 1) blocks.insert(launch.blocks);
  }
  EXPECT_EQ(kernels.size(), 18U + 26 + 12) << "as many as one of the three lengths has";
  EXPECT_GT(blocks.size(), 2U) << "a longer batch has larger grids";
}

TEST(Launches, TheSteadyStateCountsVisitsOfRandomLengthByTheirMean) {
  const GpuConstants card = typical(sheet_of("h200").constants);
  for (const char* key : {"ppo_rollouts", "world_model"}) {
    const Workload workload = workload_of(key);
    const Stream stream("h200", workload, 8000);

    const double truth = steady_state(card, workload.load, {}, {}, kNoEffects).time.value();

    EXPECT_NEAR(stream.now_s / 8000 / truth, 1, 0.03) << key;
  }
}

}  // namespace
}  // namespace hypermile
