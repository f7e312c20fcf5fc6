// SPDX-License-Identifier: Apache-2.0
#include "control/applied_settings.h"

#include <gtest/gtest.h>

#include <future>

#include "testing/control_fixture.h"

namespace hypermile {
namespace {

const Setting kLow{.sm_clock = Mhz(1500)};
const Setting kLimit{.power_limit = Watts(400)};

class AppliedSettingsTest : public ::testing::Test {
 protected:
  AppliedSettingsTest() {
    watch_.poll(clock_.now());
    settings_.set_gpus({&watch_});
  }
  // Rounds of 50 ms with fresh readings; the stage at their end.
  AppliedSettings::Stage pass(Seconds time) {
    for (const Instant end = clock_.now() + time; clock_.now() < end;) {
      clock_.advance(milliseconds(50));
      if (const auto reading = watch_.poll(clock_.now())) settings_.add(watch_, *reading);
      settings_.step(clock_.now());
    }
    return settings_.stage();
  }
  void ask(const Setting& setting) { settings_.ask({setting}, clock_.now()); }

  using Stage = AppliedSettings::Stage;
  VirtualClock clock_;
  std::shared_ptr<CardForTest> card_ = std::make_shared<CardForTest>(clock_);
  PortForTest port_{*card_};
  std::vector<SettingChange> changes_;
  ControlDesk desk_{.take = {},
                    .write =
                        [this](EventBody body) {
                          if (auto* change = std::get_if<SettingChange>(&body)) {
                            changes_.push_back(*change);
                          }
                        },
                    .warn = {},
                    .attend = {}};
  GpuWatch watch_{{},
                  [this](const DeviceName&) {
                    std::promise<OpenedFake> opened;
                    opened.set_value(std::shared_ptr<Gpu>(card_));
                    return opened.get_future();
                  },
                  clock_,
                  {}};
  AppliedSettings settings_{port_, desk_};
};

TEST_F(AppliedSettingsTest, AsksForNothingThatIsInForce) {
  ask({});

  EXPECT_TRUE(port_.asked.empty());
  EXPECT_TRUE(settings_.at_default());
}

TEST_F(AppliedSettingsTest, WaitsUntilTheSensorsShowTheClock) {
  card_->shown_clock = Mhz(1980);
  ask(kLow);
  EXPECT_EQ(pass(Seconds(1)), Stage::kSettling) << "the clock is above its ceiling";
  card_->shown_clock.reset();

  EXPECT_EQ(pass(milliseconds(100)), Stage::kInForce);
  EXPECT_GE(settings_.in_force_since(), clock_.now() - milliseconds(100));
  ASSERT_EQ(changes_.size(), 1U);
  EXPECT_TRUE(changes_.front().accepted);
}

TEST_F(AppliedSettingsTest, WaitsAWhileWhereNoSensorCanShowIt) {
  ask(kLimit);
  EXPECT_EQ(pass(milliseconds(400)), Stage::kSettling);

  EXPECT_EQ(pass(milliseconds(250)), Stage::kInForce);
}

TEST_F(AppliedSettingsTest, CountsTheChangesThatWereCarriedOut) {
  port_.forbidden = {Knob::kPowerLimit};
  ask(kLimit);
  EXPECT_EQ(pass(milliseconds(100)), Stage::kFailed);
  EXPECT_EQ(settings_.changes(), 0U);
  EXPECT_FALSE(settings_.has_worked(Knob::kPowerLimit));

  ask(kLow);
  pass(Seconds(1));

  EXPECT_EQ(settings_.changes(), 1U);
  EXPECT_TRUE(settings_.has_worked(Knob::kSmClock));
}

TEST_F(AppliedSettingsTest, AsksForTheDefaultAgainAfterAFailure) {
  port_.fails = 1;
  ask(kLow);
  pass(milliseconds(100));

  ask({});

  EXPECT_EQ(port_.asked.back(), Setting());
  EXPECT_EQ(pass(Seconds(1)), Stage::kInForce);
}

TEST_F(AppliedSettingsTest, FailsWhereNoAnswerComes) {
  port_.silent = true;
  ask(kLow);

  EXPECT_EQ(pass(Seconds(14)), Stage::kAsked);
  EXPECT_EQ(pass(Seconds(2)), Stage::kFailed);
  EXPECT_EQ(settings_.problem()->code, ErrorCode::kTimeout);
}

TEST_F(AppliedSettingsTest, ForgetsWhatThePortHasGivenBack) {
  ask(kLow);
  pass(Seconds(1));

  settings_.forget();

  EXPECT_TRUE(settings_.at_default());
  EXPECT_EQ(settings_.stage(), Stage::kInForce);
}

}  // namespace
}  // namespace hypermile
