// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong on the way to a GPU, and what the Controller makes of it: the default, and back
// when it is right again.
#include <gtest/gtest.h>

#include "testing/control_fixture.h"

namespace hypermile {
namespace {

TEST_F(ControllerTest, TriesAgainAfterARequestThatFailed) {
  begin();
  train(20);

  port_.fails = 1;
  const bool held = train_until_held(500);

  EXPECT_TRUE(was("unsure"));
  EXPECT_TRUE(held) << controller_->reason();
}

TEST_F(ControllerTest, GivesUpWhereEveryRequestFails) {
  begin();
  train(20);

  port_.fails = 1000000;
  train(600);
  session_->finish();

  EXPECT_TRUE(was("refused"));
  EXPECT_LT(port_.asked.size(), 60U);
  EXPECT_EQ(port_.releases, 1);
}

TEST_F(ControllerTest, DoesNotWaitForeverForAnAnswer) {
  begin();
  train(20);

  port_.silent = true;
  train(60);
  const bool unsure = was("unsure");
  port_.silent = false;
  const bool held = train_until_held(600);

  EXPECT_TRUE(unsure);
  EXPECT_TRUE(held) << controller_->reason();
}

TEST_F(ControllerTest, ClaimsAnewAfterItsRightWasLost) {
  begin();
  ASSERT_TRUE(train_until_held(400));
  const double lost = (clock_.now() - begin_).value();

  port_.lose();
  train(lost + 2);
  const ControlState meanwhile = controller_->state();
  const bool held = train_until_held(lost + 60);

  EXPECT_EQ(meanwhile, ControlState::kUnsure);
  EXPECT_EQ(port_.claims, 2);
  EXPECT_TRUE(held);
}

TEST_F(ControllerTest, StaysAwayWhenItsRightIsLostAgainAndAgain) {
  begin();
  ASSERT_TRUE(train_until_held(400));

  double now = (clock_.now() - begin_).value();
  for (int i = 0; i < 60; ++i) {
    if (port_.state() == PortState::kHeld) port_.lose();
    train(now += 10);
  }

  EXPECT_EQ(controller_->state(), ControlState::kRefused);
  EXPECT_LE(port_.claims, 6);
  EXPECT_TRUE(card_->held.empty());
}

TEST_F(ControllerTest, IsUnsureWhileTheGpuCannotBeRead) {
  begin();
  ASSERT_TRUE(train_until_held(400));
  const double gone = (clock_.now() - begin_).value();

  card_->lost = true;
  train(gone + 10);
  const ControlState meanwhile = controller_->state();
  card_->lost = false;
  train(gone + 40);

  EXPECT_EQ(meanwhile, ControlState::kUnsure);
  EXPECT_NE(controller_->state(), ControlState::kUnsure);
}

TEST_F(ControllerTest, GoesToTheDefaultWhenPowerIsNotKnownAnyMore) {
  begin();
  ASSERT_TRUE(train_until_held(400));
  const double gone = (clock_.now() - begin_).value();

  card_->blind = true;
  train(gone + 90);
  const Setting blind = card_->held;
  card_->blind = false;
  train(gone + 150);

  EXPECT_TRUE(blind.empty());
  EXPECT_FALSE(card_->held.empty());
}

TEST_F(ControllerTest, BelievesNoWindowWhoseClockWasNotReached) {
  card_->shown_clock = Mhz(1980);
  begin();

  train(200);

  for (const Event& event : events("window")) {
    const Window& window = std::get<WindowEvent>(event.body).window;
    EXPECT_TRUE(window.setting.empty() || !window.usable()) << to_string(window.setting);
  }
  const ControlSummary summary = controller_->summary();
  ASSERT_FALSE(summary.phases.empty());
  for (const MeasuredSetting& measured : summary.phases.front().measured) {
    EXPECT_TRUE(measured.setting.empty()) << to_string(measured.setting);
  }
}

TEST_F(ControllerTest, LeavesOutSettingsThatAreNotAllowed) {
  port_.least = Mhz(1700);
  begin();

  train_until_held(600);

  const ControlSummary summary = controller_->summary();
  ASSERT_FALSE(summary.phases.empty());
  for (const MeasuredSetting& measured : summary.phases.front().measured) {
    EXPECT_TRUE(measured.setting.empty() || *measured.setting.sm_clock >= Mhz(1700));
  }
}

TEST_F(ControllerTest, NeverAsksForAKnobThatTheLeaseForbids) {
  options_.knobs = {Knob::kSmClock, Knob::kMemoryClock};
  port_.forbidden = {Knob::kMemoryClock};
  begin();

  const bool held = train_until_held(600);

  EXPECT_TRUE(held) << controller_->reason();
  for (const Setting& asked : port_.asked) EXPECT_FALSE(asked.memory_clock) << to_string(asked);
  EXPECT_FALSE(was("unsure"));
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_EQ(warnings_.front(), "the memory clock may not be changed here and stays as it is");
}

TEST_F(ControllerTest, LeavesOutAKnobThatIsRefusedAndGoesOnWithTheOthers) {
  options_.knobs = {Knob::kSmClock, Knob::kMemoryClock};
  port_.forbidden = {Knob::kMemoryClock};
  port_.tells = false;  // as a card whose driver lists a clock and refuses it
  begin();

  const bool held = train_until_held(900);

  EXPECT_TRUE(held) << controller_->reason();
  EXPECT_LE(std::ranges::count_if(port_.asked,
                                  [](const Setting& one) { return one.memory_clock.has_value(); }),
            1);
  EXPECT_FALSE(was("refused"));
}

TEST_F(ControllerTest, ClaimsNoChangeWhereEveryRequestIsRefused) {
  port_.forbidden = {Knob::kSmClock};
  port_.tells = false;
  begin();

  train(300);

  EXPECT_LE(port_.asked.size(), 4U);
  EXPECT_EQ(controller_->summary().setting_changes, 0U);
  EXPECT_TRUE(card_->held.empty());
}

TEST_F(ControllerTest, SearchesAJobWhoseDefaultIsHeldBackByHeat) {
  card_->lie = [this](Sample& sample) {
    if (card_->held.empty()) sample.reasons = EventReasons{EventReasons::kSoftwareThermal};
  };
  begin();

  const bool held = train_until_held(600);

  EXPECT_TRUE(held) << controller_->reason();
}

TEST_F(ControllerTest, SaysOnceThatNothingCanBeMeasured) {
  card_->lie = [](Sample& sample) { sample.gpu_utilization = 0; };
  begin();

  train(300);

  EXPECT_TRUE(card_->held.empty());
  EXPECT_EQ(controller_->state(), ControlState::kUnsure);
  EXPECT_LE(events("state").size(), 12U);
}

TEST_F(ControllerTest, EndsInTheMiddleOfAWindow) {
  begin();
  while (controller_->state() != ControlState::kSearch) {
    train((clock_.now() - begin_).value() + 1);
    ASSERT_LT(clock_.now(), at(100));
  }
  train((clock_.now() - begin_).value() + 2);

  session_->finish();
  session_->finish();

  EXPECT_TRUE(card_->held.empty());
  EXPECT_EQ(port_.releases, 1);
  EXPECT_EQ(controller_->state(), ControlState::kReleased);
}

TEST_F(ControllerTest, FlipsPhasesInTheMiddleOfEveryWindowWithoutHarm) {
  begin();

  double now = 0;
  for (int i = 0; i < 60; ++i) {
    train(now += 2.7);
    train(now += 2.4, "evaluate", 0.5);
  }
  session_->finish();

  EXPECT_TRUE(card_->held.empty());
}

}  // namespace
}  // namespace hypermile
