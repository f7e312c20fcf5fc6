// SPDX-License-Identifier: Apache-2.0
#include "control/pause_watch.h"

#include <gtest/gtest.h>

#include "testing/control_fixture.h"

namespace hypermile {
namespace {

// Iterations of 10 ms.
class PauseWatchTest : public ::testing::Test {
 protected:
  Pause iterate(int count, Seconds pause_before_last = {}) {
    Pause pause = Pause::kNone;
    for (int i = 0; i < count; ++i) {
      time_ = time_ + milliseconds(10) + (i + 1 == count ? pause_before_last : Seconds(0));
      iteration_ += 1;
      pause = watch_.add({{.pattern = {}, .time = time_, .gpu_time = {}}, iteration_}, plan_);
    }
    return pause;
  }

  StepPlan plan_{milliseconds(10), 600, 10, 200, false, Seconds(0.51)};
  PauseWatch watch_;
  Instant time_;
  double iteration_ = 0;
};

TEST_F(PauseWatchTest, KnowsAPauseThatComesAsPlanned) {
  iterate(200, Seconds(0.5));

  EXPECT_EQ(iterate(199), Pause::kNone);
  EXPECT_EQ(iterate(1, Seconds(0.5)), Pause::kUsual);
}

TEST_F(PauseWatchTest, CallsAPauseOddThatIsFarLongerThanTheUsualOnes) {
  iterate(200, Seconds(0.5));

  EXPECT_EQ(iterate(200, Seconds(2)), Pause::kOdd);
  EXPECT_EQ(iterate(200, Seconds(0.5)), Pause::kUsual);
}

TEST_F(PauseWatchTest, APauseBehindOneThatWasTooShortToBeSeenIsUsual) {
  iterate(200, Seconds(0.5));
  iterate(200, Seconds(0.2));

  EXPECT_EQ(iterate(200, Seconds(0.5)), Pause::kUsual);
}

// Between two timed iterations the host's times are spread evenly.
TEST_F(PauseWatchTest, SeesInGpuTimesAPauseThatTheHostsTimesHide) {
  plan_.real_pauses = true;
  Seconds gpu;
  for (int round = 0; round < 3; ++round) {
    for (int i = 1; i <= 200; ++i) {
      const bool late = i > 190;
      time_ = time_ + milliseconds(late ? 60 : 10);
      gpu += milliseconds(late ? 60 : 10);
      const bool timed = i % 10 == 0;
      const Boundary at{
          .pattern = {}, .time = time_, .gpu_time = timed ? std::optional(gpu) : std::nullopt};
      const Pause pause = watch_.add({at, ++iteration_}, plan_);
      EXPECT_EQ(pause, i == 200 ? Pause::kUsual : Pause::kNone) << i;
    }
  }
}

// An evaluation of a small data set, after every epoch of fifty iterations.
TEST_F(PauseWatchTest, SeesInGpuTimesAPauseThatIsShorterThanAHostMayWait) {
  plan_ = {milliseconds(10), 600, 10, 50, true, milliseconds(120), kShortestTimedPause};
  Seconds gpu;
  for (int i = 1; i <= 200; ++i) {
    const Seconds took = milliseconds(10) + (i % 50 == 48 ? milliseconds(110) : Seconds(0));
    time_ = time_ + took;
    gpu += took;
    const bool timed = i % 5 == 0;
    const Boundary at{.pattern = {},
                      .time = time_,
                      .gpu_time = timed ? std::optional(gpu) : std::nullopt,
                      .launch = 7};
    EXPECT_EQ(watch_.add({at, ++iteration_}, plan_), i % 50 == 0 ? Pause::kUsual : Pause::kNone)
        << i;
  }
}

// Else no look at a slow Setting would ever be cut.
TEST_F(PauseWatchTest, TakesNoIterationOfASlowSettingForAPause) {
  plan_ = {milliseconds(10), 600, 10, 50, true, milliseconds(120), kShortestTimedPause};
  iterate(50);
  int pauses = 0;
  Seconds gpu;
  for (int i = 1; i <= 50; ++i) {
    time_ = time_ + milliseconds(60);
    gpu += milliseconds(60);
    const Boundary at{.pattern = {}, .time = time_, .gpu_time = gpu, .launch = 7};
    pauses += watch_.add({at, ++iteration_}, plan_) != Pause::kNone;
  }
  EXPECT_LE(pauses, 1);
}

// Such a host's waits are part of the mean that the plan calls typical, so that GPU times, where
// there are any, show no pause.
TEST_F(PauseWatchTest, AHostThatWaitsAfterEveryRoundEndsItThereWhateverTheGpuDid) {
  iterate(200, Seconds(0.5));
  Seconds gpu;
  for (int i = 0; i < 200; ++i) {
    time_ = time_ + milliseconds(10) + (i == 199 ? Seconds(0.5) : Seconds(0));
    gpu += milliseconds(12.5);
    const Boundary at{.pattern = {}, .time = time_, .gpu_time = gpu};
    const Pause pause = watch_.add({at, ++iteration_}, plan_);
    EXPECT_EQ(pause, i == 199 ? Pause::kUsual : Pause::kNone) << i;
  }
}

TEST_F(PauseWatchTest, WithoutAPlanTellsBySeveralInAWindow) {
  plan_.pause_every = 0;
  iterate(200, Seconds(0.5));

  EXPECT_EQ(iterate(150, Seconds(0.5)), Pause::kUsual);
  EXPECT_EQ(iterate(250, Seconds(0.5)), Pause::kOdd);
}

TEST_F(PauseWatchTest, WhatWasNotWatchedIsNoPause) {
  iterate(200, Seconds(0.5));
  time_ = time_ + Seconds(3);

  const Boundary after{.pattern = {}, .time = time_, .gpu_time = {}, .unseen = 300.0};
  EXPECT_EQ(watch_.add({after, 201}, plan_), Pause::kNone);
}

// A job that evaluates for a second after every two seconds of training.
class EvaluatingJobTest : public ControllerTest {
 protected:
  void train_in_rounds(double seconds) {
    while ((clock_.now() - begin_).value() < seconds) {
      const std::uint64_t until = job_->iterations() + 50;
      while (job_->iterations() < until) {
        train((clock_.now() - begin_).value() + 0.02);
      }
      pause((clock_.now() - begin_).value() + 1.2);
    }
  }
};

TEST_F(EvaluatingJobTest, WindowsHoldWholeRoundsOfTrainingAndEvaluation) {
  begin();

  train_in_rounds(300);
  session_->finish();

  std::vector<double> at_default;
  for (const Event& event : events("window")) {
    const Window& window = std::get<WindowEvent>(event.body).window;
    if (!window.usable() || !window.setting.empty() || window.iterations < 120) continue;
    at_default.push_back(window.time_per_iteration->value());
  }
  ASSERT_GE(at_default.size(), 2U);
  const auto [least, most] = std::ranges::minmax(at_default);
  EXPECT_LT(most / least, 1.08) << "an evaluation more or less is a tenth";
  EXPECT_GT(least, 1.2 * 0.040) << "evaluations are part of what an iteration costs";
}

}  // namespace
}  // namespace hypermile
