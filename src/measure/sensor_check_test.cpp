// SPDX-License-Identifier: Apache-2.0
#include "measure/sensor_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace hypermile {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Capabilities card_of_350_w() {
  Capabilities card;
  card.power_limit_range = Range{Watts(100), Watts(350)};
  card.default_power_limit = Watts(350);
  return card;
}

class SensorCheckTest : public ::testing::Test {
 protected:
  // One read of everything, a tenth of a second after the last one.
  Sample read(std::optional<double> watts, std::optional<double> joules) {
    seconds_ += 0.1;
    Sample sample;
    sample.time = Instant() + Seconds(seconds_);
    if (watts) sample.power_instant = Watts(*watts);
    if (joules) sample.energy = Joules(*joules);
    check_.check(sample);
    return sample;
  }
  // Reads for `span` seconds of 300 W; the counter shows what `counter` makes of the joules drawn.
  Sample watch(double span, const std::function<double(double)>& counter, double watts = 300) {
    Sample last;
    for (double end = seconds_ + span; seconds_ < end;) {
      last = read(watts, counter(300 * (seconds_ + 0.1)));
    }
    return last;
  }
  static double honest(double joules) { return joules; }

  SensorCheck check_{card_of_350_w()};
  double seconds_ = 0;
};

TEST_F(SensorCheckTest, LeavesAnHonestCardAlone) {
  const Sample last = watch(60, honest);

  EXPECT_NEAR(last.energy->value(), 300 * seconds_, 1e-6);
  EXPECT_EQ(check_.take_finding(), "");
}

TEST_F(SensorCheckTest, DropsPowerThatCannotBeTrue) {
  for (const double watts : {0.0, -300.0, kNan, 701.0, 31642.0}) {
    EXPECT_FALSE(read(watts, {}).power_instant) << watts;
  }
  EXPECT_TRUE(read(690, {}).power_instant) << "a moment above the limit is possible";
}

TEST_F(SensorCheckTest, TellsOnceThatThePowerSensorIsBroken) {
  for (int i = 0; i < 200; ++i) read(0, {});

  EXPECT_NE(check_.take_finding().find("cannot be true"), std::string::npos);
  EXPECT_EQ(check_.take_finding(), "");
}

TEST_F(SensorCheckTest, GivesUpACounterThatStandsStill) {
  const Sample last = watch(15, [](double) { return 77.0; });

  EXPECT_TRUE(check_.counter_given_up());
  EXPECT_FALSE(last.energy);
  EXPECT_NE(check_.take_finding().find("the power samples are used"), std::string::npos);
  EXPECT_EQ(check_.take_finding(), "");
}

TEST_F(SensorCheckTest, GivesUpACounterThatCountsMoreThanTheCardCanDraw) {
  for (const double by : {2.0, 160.0, 1000.0}) {
    check_ = SensorCheck(card_of_350_w());
    watch(15, [by](double joules) { return by * joules; });
    EXPECT_TRUE(check_.counter_given_up()) << by;
  }
}

TEST_F(SensorCheckTest, SaysThatCounterAndSamplesDisagreeWhereEitherMayBeWrong) {
  const Sample last = watch(20, honest, 60);

  EXPECT_FALSE(check_.counter_given_up());
  EXPECT_TRUE(last.energy);
  EXPECT_NE(check_.take_finding().find("disagree"), std::string::npos);
}

TEST_F(SensorCheckTest, PassesOverASingleValueThatIsOff) {
  watch(10, honest);
  EXPECT_FALSE(read(300, 5).energy);
  EXPECT_FALSE(read(300, 1e9).energy);

  const Sample next = watch(0.1, honest);

  EXPECT_NEAR(next.energy->value(), 300 * seconds_, 1e-6);
}

TEST_F(SensorCheckTest, BridgesACounterThatBeginsAnewWithThePowerSamples) {
  watch(10, honest);

  const Sample last = watch(20, [](double joules) { return joules - 3000; });

  ASSERT_TRUE(last.energy);
  EXPECT_NEAR(last.energy->value(), 300 * seconds_, 60);
  EXPECT_FALSE(check_.counter_given_up());
}

TEST_F(SensorCheckTest, GivesUpACounterThatBeginsAnewAgainAndAgain) {
  watch(60, [](double joules) { return std::fmod(joules, 3000); });

  EXPECT_TRUE(check_.counter_given_up());
}

TEST_F(SensorCheckTest, DropsAReadingWhoseTimeGoesBack) {
  read(300, 30);
  seconds_ -= 5;

  const Sample back = read(300, 31);

  EXPECT_FALSE(back.power_instant);
  EXPECT_FALSE(back.energy);
  EXPECT_EQ(back.time, Instant() + Seconds(0.1)) << "times never fall";
}

TEST_F(SensorCheckTest, KeepsAHistoryInOrder) {
  const auto at = [](double seconds) { return Instant() + Seconds(seconds); };
  std::vector<TimedPower> history = {{at(900), Watts(300)},   {at(1), Watts(300)},
                                     {at(1.02), Watts(kNan)}, {at(1.04), Watts(310)},
                                     {at(1.03), Watts(310)},  {at(1.06), Watts(-1)}};

  check_.check(history, at(2));

  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history.front().time, at(1));
  EXPECT_EQ(history.back().time, at(1.04));
}

}  // namespace
}  // namespace hypermile
