// SPDX-License-Identifier: Apache-2.0
#include "trial/launch_player.h"

#include <gtest/gtest.h>

#include "testing/simulated_job.h"
#include "trial/simulated_training.h"

namespace hypermile {
namespace {

// A job that is seen by its launches, and what its ring shows.
class PlayedLaunches : public ::testing::Test {
 protected:
  void start(const char* key) {
    job_ = job_for_test(0);
    job_.workload = load_workload(key).value();
    job_.progress = ProgressKind::kLaunches;
    training_ = SimulatedTraining::start(clock_, job_).value();
    ASSERT_EQ(training_->folder().discover().size(), 1U);
  }
  void play(double seconds) {
    const Instant end = clock_.now() + Seconds(seconds);
    while (clock_.now() < end) {
      clock_.advance(Seconds(0.05));
      training_->play(clock_.now());
      ASSERT_TRUE(ring().drain(clock_.now(), batch_).ok());
    }
  }
  RingReader& ring() { return *training_->folder().rings().front(); }

  VirtualClock clock_;
  SimulatedJob job_;
  std::unique_ptr<SimulatedTraining> training_;
  RingBatch batch_;
};

TEST_F(PlayedLaunches, AreSeenAtOnceWhereTheHostIsAhead) {
  start("gpt2_host_ahead");
  play(1.0);  // the first part of a step of 3.7 s has been done

  ASSERT_GT(batch_.launches.size(), 1000U);
  const Seconds apart = batch_.launches.back().launch.time - batch_.launches.front().launch.time;
  EXPECT_LT(apart, Seconds(0.2)) << "no launch waits for the GPU";
}

TEST_F(PlayedLaunches, GetGpuTimesInOrderAlsoAfterADarkStretch) {
  start("gpt2_host_ahead");
  play(1.0);
  const std::uint32_t first = batch_.launches.front().launch.kernel;
  ASSERT_TRUE(ring().want_events(WantedEvents{.kernel = first}).ok());
  play(8);
  ASSERT_TRUE(ring().want_dark(clock_.now() + Seconds(5)).ok());
  play(20);

  ASSERT_GE(batch_.gpu_times.size(), 3U);
  for (std::size_t i = 1; i < batch_.gpu_times.size(); ++i) {
    EXPECT_GT(batch_.gpu_times[i].time, batch_.gpu_times[i - 1].time);
    EXPECT_GT(batch_.gpu_times[i].launch, batch_.gpu_times[i - 1].launch);
  }
}

TEST_F(PlayedLaunches, NeverComeFromTheFuture) {
  for (const char* key : {"ppo_rollouts", "jax_bursts", "mixed_lengths", "mlp_tiny"}) {
    batch_ = {};
    start(key);
    play(20);

    EXPECT_GT(batch_.launches.size(), 100U) << key;
    EXPECT_EQ(batch_.damaged, 0U) << key;
    EXPECT_EQ(batch_.lost, 0U) << key;
  }
}

}  // namespace
}  // namespace hypermile
