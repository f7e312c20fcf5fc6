// SPDX-License-Identifier: Apache-2.0
#include "measure/energy_counter_clock.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hypermile {
namespace {

// A counter that moves at 0.037, 0.137, … s under 400 W.
Joules shown_at(double seconds) {
  return Joules(400 * (std::floor((seconds - 0.037) * 10 + 1e-9) / 10 + 0.037 + 1));
}

Instant at(double seconds) {
  return Instant() + Seconds(seconds);
}

EnergyCounterClock learnt(double until = 0.7) {
  EnergyCounterClock clock;
  for (double t = 0; t < until; t += 0.02) clock.add(at(t), shown_at(t));
  return clock;
}

TEST(EnergyCounterClock, LearnsTheRhythmFromReadsThatBracketSteps) {
  const EnergyCounterClock clock = learnt();

  ASSERT_TRUE(clock.period());
  EXPECT_NEAR(clock.period()->value(), 0.1, 1e-9);
}

TEST(EnergyCounterClock, PlacesEveryStepFromOneReadWithAConstantOffset) {
  EnergyCounterClock clock = learnt();
  std::vector<double> off;

  for (double t = 1.08; t < 60; t += 0.7) {
    const auto step = clock.add(at(t), shown_at(t));
    ASSERT_TRUE(step) << t;
    const double truth = std::floor((t - 0.037) * 10) / 10 + 0.037;
    off.push_back(step->time.since_origin().value() - truth);
    EXPECT_EQ(step->energy, shown_at(t));
  }

  for (const double one : off) EXPECT_NEAR(one, off.front(), 1e-6);
  EXPECT_LT(std::abs(off.front()), 0.010);
}

TEST(EnergyCounterClock, ReturnsEachStepOnce) {
  EnergyCounterClock clock = learnt();

  EXPECT_TRUE(clock.add(at(2.06), shown_at(2.06)));
  EXPECT_FALSE(clock.add(at(2.08), shown_at(2.08)));
  EXPECT_TRUE(clock.add(at(2.16), shown_at(2.16)));
}

TEST(EnergyCounterClock, KnowsWhenAReadWouldLieTooNearToAStep) {
  const EnergyCounterClock clock = learnt();

  EXPECT_TRUE(clock.good_time(at(5.087)));
  EXPECT_FALSE(clock.good_time(at(5.037)));
  EXPECT_FALSE(clock.good_time(at(5.130)));
}

TEST(EnergyCounterClock, UsesTheTimeOfTheReadWhereTheCounterMovesFasterThanItIsRead) {
  EnergyCounterClock clock;
  for (double t = 0; t < 0.3; t += 0.02) clock.add(at(t), Joules(400 * t + 1));

  const auto step = clock.add(at(0.9), Joules(361));

  EXPECT_TRUE(clock.known());
  EXPECT_FALSE(clock.period());
  ASSERT_TRUE(step);
  EXPECT_EQ(step->time, at(0.9));
}

TEST(EnergyCounterClock, SeesThatTheCounterStandsStill) {
  EnergyCounterClock clock = learnt();
  const Joules stuck = shown_at(0.69);

  clock.add(at(1.0), stuck);
  EXPECT_FALSE(clock.stands_still());
  clock.add(at(1.9), stuck);
  EXPECT_TRUE(clock.stands_still());
  clock.add(at(2.0), stuck + Joules(1));
  EXPECT_FALSE(clock.stands_still());
}

TEST(EnergyCounterClock, StartsAnewWhenTheCounterGoesBack) {
  EnergyCounterClock clock = learnt();

  EXPECT_FALSE(clock.add(at(1.0), Joules(0)));

  EXPECT_FALSE(clock.period());
}

TEST(EnergyCounterClock, FollowsARhythmThatIsALittleOff) {
  EnergyCounterClock clock;
  std::optional<EnergyCounterStep> last;
  for (int i = 0; i < 30000; ++i) {
    const double t = i * 0.02;
    const double number = std::floor((t - 0.011) / 0.100003);
    const auto step = clock.add(at(t), Joules(40 * number + 100));
    if (!step) continue;
    last = step;
    EXPECT_NEAR(step->time.since_origin().value(), number * 0.100003 + 0.011, 0.011);
  }

  ASSERT_TRUE(last);
}

}  // namespace
}  // namespace hypermile
