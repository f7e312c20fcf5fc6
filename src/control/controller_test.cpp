// SPDX-License-Identifier: Apache-2.0
#include "control/controller.h"

#include <gtest/gtest.h>

#include "testing/control_fixture.h"

namespace hypermile {
namespace {

TEST_F(ControllerTest, SearchesHoldsAndGivesTheGpuBack) {
  begin();

  const bool held = train_until_held(400);
  train((clock_.now() - begin_).value() + 60);
  const double slower = card_->iteration() / milliseconds(40);
  session_->finish();

  EXPECT_TRUE(held) << controller_->reason();
  EXPECT_LT(slower, 1.101) << "no Setting of a mix is slower than twice the bound";
  EXPECT_TRUE(card_->held.empty());
  EXPECT_EQ(controller_->state(), ControlState::kReleased);
  EXPECT_TRUE(controller_->summary().restored);
  ASSERT_GE(states().size(), 5U);
  EXPECT_EQ(states().front(), "warm_up");
  EXPECT_EQ(states()[1], "baseline");
  EXPECT_EQ(states()[2], "search");
  EXPECT_TRUE(was("hold"));
  EXPECT_EQ(states().back(), "released");
}

TEST_F(ControllerTest, SummarisesWhatItMeasured) {
  begin();
  ASSERT_TRUE(train_until_held(400));
  train((clock_.now() - begin_).value() + 60);
  session_->finish();

  const ControlSummary summary = controller_->summary();

  ASSERT_EQ(summary.phases.size(), 1U);
  const PhaseControl& phase = summary.phases.front();
  const MeasuredSetting* base = phase.at({});
  const MeasuredSetting* kept = phase.at(phase.kept);
  ASSERT_TRUE(base != nullptr && kept != nullptr);
  EXPECT_NEAR(*base->time.mean(), 0.040, 0.001);
  EXPECT_LT(*kept->energy.mean(), 0.95 * *base->energy.mean());
  EXPECT_TRUE(phase.settled_after.has_value());
  EXPECT_GT(phase.probes, 3U);
}

TEST_F(ControllerTest, WatchesAllOfALaunchBoundJobWhileItSearches) {
  launches_ = 600;
  begin();

  train(40);

  EXPECT_TRUE(was("search"));
  EXPECT_EQ(job_->launches_watched(), 600 * job_->iterations());
}

TEST_F(ControllerTest, LooksNowAndThenAtALaunchBoundJobWhoseSettingIsHeld) {
  launches_ = 600;
  begin();
  ASSERT_TRUE(train_until_held(400));
  train((clock_.now() - begin_).value() + 60);  // while looks still pay it is watched closely
  const std::uint64_t iterations = job_->iterations();
  const std::uint64_t watched = job_->launches_watched();

  train((clock_.now() - begin_).value() + 90);
  const double share = static_cast<double>(job_->launches_watched() - watched) /
                       (600 * static_cast<double>(job_->iterations() - iterations));
  session_->finish();

  EXPECT_LT(share, 0.75);
  EXPECT_FALSE(was("drift"));
  EXPECT_FALSE(was("unsure"));
  const ControlSummary summary = controller_->summary();
  const PhaseControl& phase = summary.phases.front();
  const MeasuredSetting* base = phase.at({});
  const MeasuredSetting* kept = phase.at(phase.kept);
  ASSERT_TRUE(base != nullptr && kept != nullptr);
  EXPECT_NEAR(*kept->time.mean() / *base->time.mean(), 1.05, 0.05)
      << "what nobody saw is in no Window";
  EXPECT_LE(summary.unusable, 2U);
}

// Windows of a Setting held grow longer than what is watched at a time.
TEST_F(ControllerTest, GoesOnMeasuringALaunchBoundJobWhoseSettingIsHeld) {
  launches_ = 600;
  begin();
  ASSERT_TRUE(train_until_held(400));
  const double held = (clock_.now() - begin_).value();

  train(held + 500);
  int late = 0;
  for (const Event& event : events("window")) {
    const Window& window = std::get<WindowEvent>(event.body).window;
    late += window.usable() && !window.setting.empty() && window.begin > at(held + 250);
  }

  EXPECT_FALSE(was("unsure"));
  EXPECT_GE(late, 3);
}

TEST_F(ControllerTest, MakesEachWindowOnce) {
  begin();
  ASSERT_TRUE(train_until_held(400));
  session_->finish();

  Instant last;
  for (const Event& event : events("window")) {
    const Window& window = std::get<WindowEvent>(event.body).window;

    EXPECT_GE(window.begin, last) << to_string(window.setting);
    last = window.begin + window.duration - milliseconds(1);
  }
}

// Several Boundaries come in one round: none may be lost between two Windows.
TEST_F(ControllerTest, MeasuresTheSameInWindowsThatFollowEachOther) {
  begin();
  train(40);
  session_->finish();

  for (const Event& event : events("window")) {
    const Window& window = std::get<WindowEvent>(event.body).window;
    if (!window.usable() || !window.setting.empty() || !window.gpu_timed) continue;
    EXPECT_NEAR(window.time_per_iteration->value(), 0.040, 0.0002) << window.iterations;
  }
}

TEST_F(ControllerTest, ObservesWhereTheGpusMayNotBeChanged) {
  port_.refuse(Error{ErrorCode::kPermission, "no permission to set clocks", "ask for a lease"});
  begin();

  train(60);
  const RunSummary summary = finish();

  EXPECT_TRUE(was("refused"));
  EXPECT_TRUE(port_.asked.empty());
  ASSERT_FALSE(warnings_.empty());
  EXPECT_NE(warnings_.front().find("no permission"), std::string::npos);
  ASSERT_FALSE(summary.processes.empty());
  ASSERT_TRUE(summary.processes.front().phases.front().cost);
  EXPECT_GT(summary.processes.front().phases.front().cost->windows, 10U);
}

TEST_F(ControllerTest, LeavesAJobThatEndsSoonAtItsDefault) {
  options_.job_iterations = 500;  // 20 s
  begin();

  train(15);

  EXPECT_EQ(controller_->state(), ControlState::kLeftAlone);
  EXPECT_NE(controller_->reason().find("too short"), std::string::npos);
  EXPECT_TRUE(card_->held.empty());
}

TEST_F(ControllerTest, LeavesAJobAloneWhereThereIsNothingToChoose) {
  options_.settings = {Setting()};
  begin();

  train(60);

  EXPECT_TRUE(card_->held.empty());
  for (const Setting& asked : port_.asked) EXPECT_TRUE(asked.empty());
}

TEST_F(ControllerTest, KeepsItsSettingWhileTheJobPausesAndGoesOnWithoutLearningAgain) {
  begin();
  ASSERT_TRUE(train_until_held(400));
  const double paused = (clock_.now() - begin_).value();
  const Setting kept = card_->held;

  pause(paused + 60);
  const ControlState meanwhile = controller_->state();
  const Setting during = card_->held;
  train(paused + 90);

  EXPECT_EQ(meanwhile, ControlState::kIdle);
  EXPECT_EQ(during, kept);
  EXPECT_NE(controller_->state(), ControlState::kIdle);
  EXPECT_EQ(controller_->summary().drifts, 0U);
}

TEST_F(ControllerTest, GoesBackToTheDefaultWhileIterationsAreNotRecognised) {
  begin();
  ASSERT_TRUE(train_until_held(400));
  const double lost = (clock_.now() - begin_).value();

  launch_at_random(lost + 20);
  const bool unsure = was("unsure");
  const Setting meanwhile = card_->held;
  const bool again = train_until_held(lost + 60);

  EXPECT_TRUE(unsure);
  EXPECT_TRUE(meanwhile.empty());
  EXPECT_TRUE(again) << "the phase is known and gets its Setting back";
}

TEST_F(ControllerTest, GivesAKnownPhaseItsSettingBackAtOnce) {
  begin();
  ASSERT_TRUE(train_until_held(400));
  train((clock_.now() - begin_).value() + 60);  // until it looks no further
  const double left = (clock_.now() - begin_).value();

  train(left + 25, "evaluate", 0.5);
  train(left + 29);

  EXPECT_TRUE(was("hold"));
  EXPECT_NE(controller_->state(), ControlState::kSearch) << "nothing is searched again";
}

TEST_F(ControllerTest, TakesABriefEvaluationAsAnInterlude) {
  begin();
  ASSERT_TRUE(train_until_held(400));
  const double left = (clock_.now() - begin_).value();

  train(left + 1.5, "evaluate", 0.5);
  train(left + 6);

  for (const Event& event : events("state")) {
    EXPECT_EQ(std::get<StateChange>(event.body).phase.value_or(0), 0U);
  }
}

TEST_F(ControllerTest, SearchesAgainWhenTheJobHasChangedForGood) {
  begin();
  ASSERT_TRUE(train_until_held(400));
  const double changed = (clock_.now() - begin_).value() + 150;
  train(changed);

  card_->draw = 200;
  train(changed + 200);

  EXPECT_TRUE(was("drift"));
  ASSERT_FALSE(events("drift").empty());
  EXPECT_EQ(std::get<Drift>(events("drift").front().body).quantity, "power");
}

}  // namespace
}  // namespace hypermile
