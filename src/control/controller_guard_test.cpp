// SPDX-License-Identifier: Apache-2.0
//
// The promise on the whole job, whatever the policy does and the Setting turns into.
#include <gtest/gtest.h>

#include <algorithm>

#include "testing/control_fixture.h"

namespace hypermile {
namespace {

// Measures the default once and keeps one Setting for ever, however slow.
class StubbornPolicy final : public Policy {
 public:
  explicit StubbornPolicy(std::size_t setting) : setting_(setting) {}
  Step next() override {
    Step step;
    step.iterations = 100;
    step.exploring = !measured_;
    step.setting = measured_ ? setting_ : 0;
    step.reason = measured_ ? "because" : "what the default costs";
    return step;
  }
  void observe(const Window&) override { measured_ = true; }

 private:
  std::size_t setting_;
  bool measured_ = false;
};

class ControllerGuardTest : public ControllerTest {
 protected:
  void begin_stubborn() {
    begin([](const PhaseFacts&, const PolicyContext& context) -> Result<std::unique_ptr<Policy>> {
      const auto wanted = std::ranges::find(context.settings, Setting{.sm_clock = Mhz(1500)}) -
                          context.settings.begin();
      return std::unique_ptr<Policy>(
          std::make_unique<StubbornPolicy>(static_cast<std::size_t>(wanted)));
    });
  }
  double slowdown() const {
    const double usual = 0.040 * static_cast<double>(job_->iterations());
    return (clock_.now() - begin_).value() / usual - 1;
  }
  const StateChange* guarded() const {
    for (const Event& event : log_events_) {
      const auto* change = std::get_if<StateChange>(&event.body);
      if (change != nullptr && change->reason.find("earned back") != std::string::npos) {
        return change;
      }
    }
    return nullptr;
  }
  void keep_events() { log_events_ = events("state"); }
  std::vector<Event> log_events_;
};

TEST_F(ControllerGuardTest, KeepsTheBoundOfAJobWhosePolicyDoesNot) {
  options_.job_iterations = 20000;  // 800 s
  begin_stubborn();                 // 12.8 % slower

  train(830);
  const double slower = slowdown();
  keep_events();

  EXPECT_LT(slower, 0.05);
  EXPECT_GT(slower, 0.035) << "what may be lost is not given away";
  ASSERT_NE(guarded(), nullptr);
  EXPECT_EQ(guarded()->state, "baseline");
  EXPECT_GT(guarded()->numbers.at("lost_s"), 25);
  // It may be stopped before it has run as long as its user says.
  EXPECT_NEAR(guarded()->numbers.at("job_s"), 600, 8);
  EXPECT_TRUE(card_->held.empty());
}

TEST_F(ControllerGuardTest, GoesBackToTheSettingOnceEnoughIsEarned) {
  begin_stubborn();  // nobody told how long the job is

  train(1800);
  keep_events();

  EXPECT_LT(slowdown(), 0.05);
  EXPECT_GT(slowdown(), 0.03);
  EXPECT_GE(std::ranges::count(port_.asked, Setting{.sm_clock = Mhz(1500)}), 3);
}

TEST_F(ControllerGuardTest, KeepsTheBoundWhereTheJobDriftsSlowerUnderTheSetting) {
  options_.job_iterations = 30000;  // 1200 s
  begin();
  ASSERT_TRUE(train_until_held(400));
  const double begun = (clock_.now() - begin_).value();

  for (int i = 1; i <= 80; ++i) {
    card_->drag = std::min(0.12, 0.003 * i);
    train(begun + 10 * i);
  }

  EXPECT_LT(slowdown(), 0.051);
}

TEST_F(ControllerGuardTest, LeavesAJobThatKeepsTheBoundToItsPolicy) {
  options_.job_iterations = 30000;
  begin();

  train(1200);
  keep_events();

  EXPECT_EQ(guarded(), nullptr);
  EXPECT_LT(slowdown(), 0.05);
}

TEST_F(ControllerGuardTest, StandsBackWhereItIsToldTo) {
  options_.job_iterations = 20000;
  options_.guard = false;
  begin_stubborn();

  train(830);

  EXPECT_GT(slowdown(), 0.1);
}

}  // namespace
}  // namespace hypermile
