// SPDX-License-Identifier: Apache-2.0
//
// Features are collected at the first baseline of a phase and after the job has changed for good,
// and at no other time; performance counters only where they are asked for.
#include <gtest/gtest.h>

#include <algorithm>

#include "testing/control_fixture.h"

namespace hypermile {
namespace {

class CountersForTest final : public PerformanceCounters {
 public:
  void begin(const GpuIdentity&) override {
    EXPECT_FALSE(reading_);
    reading_ = true;
    ++begun;
  }
  PerformanceCounterReading end() override {
    if (!reading_) return {};
    reading_ = false;
    return answer;
  }
  bool reading() const { return reading_; }

  PerformanceCounterReading answer;
  int begun = 0;

 private:
  bool reading_ = false;
};

class ControlFeaturesTest : public ControllerTest {
 protected:
  std::vector<FeaturesEvent> collected() const {
    std::vector<FeaturesEvent> found;
    for (const Event& event : events("features")) {
      found.push_back(std::get<FeaturesEvent>(event.body));
    }
    return found;
  }
  double seconds() const { return (clock_.now() - begin_).value(); }

  CountersForTest source_;
};

TEST_F(ControlFeaturesTest, AreCollectedOnceWhileTheJobStaysAsItIs) {
  begin();
  ASSERT_TRUE(train_until_held(400));
  train(seconds() + 600);

  EXPECT_EQ(collected().size(), 1U);
}

TEST_F(ControlFeaturesTest, AreCollectedAgainAfterTheJobHasChangedForGood) {
  counters_ = &source_;
  begin();
  ASSERT_TRUE(train_until_held(400));
  const double changed = seconds() + 150;
  train(changed);
  ASSERT_EQ(collected().size(), 1U);

  card_->draw = 200;
  train(changed + 200);

  EXPECT_EQ(collected().size(), 2U);
  EXPECT_EQ(source_.begun, 2);
  EXPECT_GT(collected()[1].values.at("power_share"), 0);
  EXPECT_NE(collected()[0].values.at("power_share"), collected()[1].values.at("power_share"));
}

TEST_F(ControlFeaturesTest, TakeFromCountersWhatNvmlDoesNotTell) {
  source_.answer.samples = 5;
  source_.answer.features.set(Feature::kL2Active, 0.25);
  source_.answer.features.set(Feature::kPowerShare, 0.99);
  counters_ = &source_;
  begin();
  ASSERT_TRUE(train_until_held(400));

  ASSERT_EQ(collected().size(), 1U);
  const FeaturesEvent event = collected().front();
  EXPECT_EQ(event.values.at("l2_active"), 0.25);
  EXPECT_LT(event.values.at("power_share"), 0.98);
  EXPECT_EQ(event.numbers.at("counter_samples"), 5);
  EXPECT_FALSE(source_.reading());
}

TEST_F(ControlFeaturesTest, GoOnWithoutCountersThatCannotBeRead) {
  source_.answer.problem = "you may not";
  counters_ = &source_;
  begin();

  EXPECT_TRUE(train_until_held(400));

  ASSERT_EQ(collected().size(), 1U);
  EXPECT_FALSE(collected().front().values.contains("l2_active"));
  EXPECT_EQ(std::ranges::count(warnings_, "you may not; what only counters tell is missing"), 1);
}

TEST_F(ControlFeaturesTest, LeaveNobodyReadingWhenTheJobEndsInTheMiddle) {
  counters_ = &source_;
  begin();
  double until = 0;
  while (source_.begun == 0 && until < 60) train(until += 0.5);
  ASSERT_TRUE(source_.reading());

  session_->finish();
  rig_.reset();

  EXPECT_FALSE(source_.reading());
}

}  // namespace
}  // namespace hypermile
