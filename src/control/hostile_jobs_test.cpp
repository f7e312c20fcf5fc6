// SPDX-License-Identifier: Apache-2.0
//
// Jobs that are not what they seem: their iterations double in length for minutes, their users tell
// a wrong length, they end early or go on, they change. None may end over its bound, by truth, and
// none may be switched to and fro.
#include <gtest/gtest.h>

#include "testing/control_fixture.h"

namespace hypermile {
namespace {

constexpr double kUsual = 0.040;  // seconds of an iteration at the default, for work 1

class HostileJobTest : public ControllerTest {
 protected:
  // Trains in steps of a second until `seconds` after the start, with as much work in an iteration
  // as `work` says for that time.
  template <class Work>
  void train_with(double seconds, const Work& work, const std::string& kernels = "train") {
    for (double now = (clock_.now() - begin_).value(); now < seconds;) {
      now += 1;
      card_->work = work(now);
      const auto before = job_->iterations();
      train(now, kernels);
      at_default_ += static_cast<double>(job_->iterations() - before) * kUsual * card_->work;
    }
  }
  void train_evenly(double seconds) {
    train_with(seconds, [](double) { return 1.0; });
  }
  // Of the whole job so far, by truth.
  double slower() const { return (clock_.now() - begin_).value() / at_default_ - 1; }
  double switches_an_hour() const {
    const double hours = (clock_.now() - begin_).value() / 3600;
    return static_cast<double>(controller_->summary().setting_changes) / hours;
  }
  double at_default_ = 0;  // seconds that the same iterations would have taken
};

TEST_F(HostileJobTest, KeepsTheBoundWhereIterationsDoubleForMinutes) {
  options_.job_iterations = 45000;
  begin();

  train_with(1800, [](double now) { return static_cast<int>(now / 200) % 2 == 1 ? 2.0 : 1.0; });

  EXPECT_LT(slower(), 0.051);
}

TEST_F(HostileJobTest, KeepsTheBoundWhereIterationsGrowAllTheTime) {
  begin();

  train_with(1800, [](double now) { return 1 + now / 900; });

  EXPECT_LT(slower(), 0.051);
}

TEST_F(HostileJobTest, KeepsTheBoundWhereTheUserTellsAThirdOfTheLength) {
  options_.job_iterations = 10000;
  begin();

  train_evenly(1250);

  EXPECT_LT(slower(), 0.051);
  EXPECT_FALSE(was("left_alone")) << "the count is wrong, the job is not";
}

TEST_F(HostileJobTest, KeepsTheBoundWhereTheUserTellsThreeTimesTheLength) {
  options_.job_iterations = 90000;
  begin();

  train_evenly(1250);

  EXPECT_LT(slower(), 0.051);
}

class EarlyEndTest : public HostileJobTest, public ::testing::WithParamInterface<int> {};

TEST_P(EarlyEndTest, KeepsTheBoundOfAJobThatEndsEarly) {
  options_.job_iterations = 90000;  // an hour
  begin();

  train_evenly(GetParam());

  EXPECT_LT(slower(), 0.051);
}

TEST_P(EarlyEndTest, KeepsTheBoundOfAJobWhoseLengthNobodyTold) {
  begin();

  train_evenly(GetParam());

  EXPECT_LT(slower(), 0.051);
}

INSTANTIATE_TEST_SUITE_P(Seconds, EarlyEndTest, ::testing::Values(120, 240, 400, 600, 900));

// Nobody can know that it ends now: what a search may lose is reckoned over ten minutes.
TEST_F(HostileJobTest, LosesLittleOfAJobThatEndsWithinAMinute) {
  begin();

  train_evenly(60);

  EXPECT_LT(slower(), 0.08);
}

TEST_F(HostileJobTest, KeepsTheBoundOfAJobThatBecomesAnother) {
  options_.job_iterations = 45000;
  begin();

  train_evenly(600);
  train_with(
      1200, [](double) { return 1.7; }, "second");
  train_with(
      1800, [](double) { return 0.6; }, "third");

  EXPECT_LT(slower(), 0.051);
}

TEST_F(HostileJobTest, KeepsTheBoundWhereTheJobBecomesSlowAtTheSettingThatIsHeld) {
  begin();
  for (int i = 0; i < 90; ++i) {
    card_->drag = i % 3 == 2 ? 0.2 : 0;  // every third stretch
    train_evenly(20 + 20 * i);
  }

  EXPECT_LT(slower(), 0.051);
}

TEST_F(HostileJobTest, SwitchesSeldomOnceAQuietJobIsKnown) {
  begin();
  train_evenly(900);
  const auto before = controller_->summary().setting_changes;

  train_evenly(2700);

  EXPECT_LT(controller_->summary().setting_changes - before, 360U) << "one in five seconds";
  EXPECT_LT(slower(), 0.051);
}

}  // namespace
}  // namespace hypermile
