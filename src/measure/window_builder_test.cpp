// SPDX-License-Identifier: Apache-2.0
#include "measure/window_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/random.h"

namespace hypermile {
namespace {

Instant at(double seconds) {
  return Instant() + Seconds(seconds);
}

// A job of 50 ms iterations at 400 W from second 10 on, with what spoils it left to each test.
struct Story {
  WindowTerms terms;
  double seconds = 4;
  double period = 0.05;
  bool counter = true;
  std::function<void(Boundary&)> change_boundary = [](Boundary&) {};
  std::function<void(SamplerReading&)> change_reading = [](SamplerReading&) {};

  WindowBuilder build() const {
    WindowBuilder builder(terms);
    for (int i = -10; i <= static_cast<int>(seconds * 50) + 10; ++i) {
      SamplerReading reading;
      const double t = 10 + i * 0.02;
      reading.sample.time = at(t);
      reading.sample.power_instant = Watts(400);
      reading.sample.sm_clock = Mhz(1410);
      reading.sample.memory_clock = Mhz(3201);
      reading.sample.reasons = EventReasons{};
      reading.sample.gpu_utilization = 0.97;
      if (counter && i % 5 == 0)
        reading.step = EnergyCounterStep{at(t - 0.013), Joules(400 * (t - 0.013))};
      change_reading(reading);
      builder.add(reading);
    }
    const int count = static_cast<int>(seconds / period + 0.5);
    for (int i = 0; i <= count; ++i) {
      Boundary boundary;
      boundary.pattern = terms.pattern;
      boundary.time = at(10 + i * period);
      change_boundary(boundary);
      builder.add(boundary);
    }
    return builder;
  }
  std::string refusal() const { return build().close().unusable; }
};

TEST(WindowBuilder, GivesSecondsAndJoulesPerIteration) {
  Story story;
  story.terms = {.setting = {.sm_clock = Mhz(1410)}, .pattern = {3, 1}, .first_iteration = 100};

  const Window window = story.build().close();

  ASSERT_TRUE(window.usable()) << window.unusable;
  EXPECT_EQ(window.pattern, (PatternId{3, 1}));
  EXPECT_EQ(window.first_iteration, 100);
  EXPECT_EQ(window.iterations, 80);
  EXPECT_EQ(window.begin, at(10));
  EXPECT_NEAR(window.duration.value(), 4, 1e-9);
  EXPECT_NEAR(window.time_per_iteration->value(), 0.05, 1e-9);
  EXPECT_NEAR(window.power->value(), 400, 0.01);
  EXPECT_NEAR(window.energy_per_iteration->value(), 20, 0.01);
  EXPECT_NEAR(window.energy->value(), 1600, 1);
  EXPECT_LT(*window.time_error, 1e-6);
  EXPECT_LT(*window.energy_error, 1e-3);
  EXPECT_NEAR(*window.energy_disagreement, 0, 0.01);
  EXPECT_EQ(window.sm_clock, Mhz(1410));
  EXPECT_FALSE(window.gpu_timed);
}

TEST(WindowBuilder, TakesEnergyAtBoundariesWhereIterationsAreLong) {
  Story story;
  story.seconds = 12;
  story.period = 2;

  const Window window = story.build().close();

  EXPECT_NEAR(window.energy_per_iteration->value(), 800, 0.1);
  EXPECT_NEAR(window.time_per_iteration->value(), 2, 1e-9);
}

// Twenty iterations of 50 ms and an evaluation of 600 ms at half the power, again and again; the
// GPU times its iterations a while after each pause only.
Window of_rounds(int iterations) {
  WindowBuilder builder({.pauses_belong = true});
  double t = 10;
  double joules = 4000;
  const auto pass = [&](double seconds, double watts) {
    for (double left = seconds; left > 1e-9; left -= 0.01) {
      t += 0.01;
      joules += 0.01 * watts;
      SamplerReading reading;
      reading.sample.time = at(t);
      reading.sample.power_instant = Watts(watts);
      reading.step = EnergyCounterStep{at(t), Joules(joules)};
      builder.add(reading);
    }
  };
  for (int i = 0; i <= iterations; ++i) {
    if (i > 0) pass(0.05, 400);
    if (i % 20 == 0) pass(0.6, 200);
    Boundary boundary;
    boundary.time = at(t);
    if (i % 20 >= 3) boundary.gpu_time = Seconds(t);
    builder.add(boundary, i % 20 == 0);
  }
  return builder.close();
}

TEST(WindowBuilder, MeasuresAJobThatPausesInWholeRounds) {
  for (const int iterations : {20, 23, 60, 63, 75}) {
    const Window window = of_rounds(iterations);

    EXPECT_NEAR(window.time_per_iteration->value(), 0.08, 1e-6) << iterations;
    EXPECT_NEAR(window.energy_per_iteration->value(), 26, 0.01) << iterations;
    EXPECT_NEAR(window.power->value(), 325, 0.2) << iterations;
  }
}

TEST(WindowBuilder, MeasuresIterationsWhereNoWholeRoundIsSeen) {
  const Window window = of_rounds(19);

  EXPECT_NEAR(window.time_per_iteration->value(), 0.05, 1e-6);
}

TEST(WindowBuilder, PrefersTheGpusOwnTimes) {
  Story story;
  Random random(5);
  story.change_boundary = [&](Boundary& boundary) {
    // The GPU's axis runs elsewhere, and at 51 ms an iteration; the host is ahead at random.
    const double iteration = (boundary.time - at(10)) / Seconds(0.05);
    boundary.gpu_time = Seconds(77 + iteration * 0.051);
    boundary.time = boundary.time - Seconds(0.04 * random.uniform());
  };

  const Window window = story.build().close();

  EXPECT_TRUE(window.gpu_timed);
  EXPECT_NEAR(window.time_per_iteration->value(), 0.051, 1e-9);
}

TEST(WindowBuilder, IntegratesPowerOfACardWithoutACounter) {
  Story story;
  story.counter = false;

  const Window window = story.build().close();

  ASSERT_TRUE(window.usable()) << window.unusable;
  EXPECT_NEAR(window.energy_per_iteration->value(), 20, 0.01);
}

TEST(WindowBuilder, PassesOverOtherLevelsAndEndsWithItsPhase) {
  WindowBuilder builder({.pattern = {0, 0}});
  for (int i = 0; i < 40; ++i) {
    Boundary boundary;
    boundary.time = at(i * 0.1);
    boundary.pattern = i < 30 ? PatternId{0, 0} : PatternId{1, 0};
    builder.add(boundary);
    boundary.pattern.level = 1;
    builder.add(boundary);
  }

  EXPECT_TRUE(builder.ended());
  EXPECT_EQ(builder.iterations(), 29);
  EXPECT_NEAR(builder.span().value(), 2.9, 1e-9);
}

TEST(WindowBuilder, RefusesWhatIsTooShort) {
  Story few;
  few.seconds = 0.3;
  EXPECT_EQ(few.refusal(), "too short: 6 iterations in 0.30 s");

  Story host;
  host.seconds = 1;
  host.change_boundary = [](Boundary& boundary) { boundary.launch = 17; };
  EXPECT_EQ(host.refusal(), "too short: 20 iterations in 1.00 s on the host's clock alone");

  // A host dispatches CUDA graphs far ahead of its GPU.
  Story ahead;
  ahead.seconds = 1.5;
  ahead.change_boundary = host.change_boundary;
  EXPECT_EQ(ahead.refusal(), "") << "where the caller allows it";
  ahead.terms.shortest_on_host = Seconds(2);
  EXPECT_EQ(ahead.refusal(), "too short: 30 iterations in 1.50 s on the host's clock alone");

  EXPECT_EQ(WindowBuilder({}).close().unusable, "the job made no iteration");
}

TEST(WindowBuilder, RefusesThrottlingByHeatButNotAPowerCap) {
  Story story;
  story.change_reading = [](SamplerReading& reading) {
    reading.sample.reasons = EventReasons{EventReasons::kSoftwareThermal};
  };
  EXPECT_EQ(story.refusal(),
            "throttled: heat or hardware held the clock down for 100 % of the time");
  EXPECT_TRUE(story.build().close().held_back());

  story.change_reading = [](SamplerReading& reading) {
    reading.sample.reasons = EventReasons{EventReasons::kSoftwarePowerCap};
  };
  EXPECT_EQ(story.refusal(), "");
  EXPECT_EQ(story.build().close().throttled_share, 1);
  EXPECT_FALSE(story.build().close().held_back());
}

TEST(WindowBuilder, RefusesAClockThatWasNotReached) {
  Story above;
  above.terms.setting.sm_clock = Mhz(1200);
  EXPECT_EQ(above.refusal(), "SM clock not reached: requested 1200 MHz, measured 1410");
  EXPECT_EQ(above.build().close().refusal, Refusal::kClockNotReached);

  Story below;
  below.terms.setting.sm_clock = Mhz(1600);
  EXPECT_EQ(below.refusal(), "SM clock not reached: requested 1600 MHz, measured 1410");
  below.change_reading = [](SamplerReading& reading) {
    reading.sample.reasons = EventReasons{EventReasons::kSoftwarePowerCap};
  };
  EXPECT_EQ(below.refusal(), "");

  Story memory;
  memory.terms.setting.memory_clock = Mhz(2201);
  EXPECT_EQ(memory.refusal(), "memory clock not reached: requested 2201 MHz, measured 3201");
}

TEST(WindowBuilder, WidensItsErrorsWhereTheClockWandersBetweenSteps) {
  Story steady;
  Story twice;  // for a second each, so that two changes are seen
  twice.change_reading = [](SamplerReading& reading) {
    const double t = reading.sample.time.since_origin().value();
    if (t > 11 && t < 12) reading.sample.sm_clock = Mhz(1395);
  };
  Story often;  // a hundred times a second: the mean is that of any other Window
  often.change_reading = [](SamplerReading& reading) {
    const double t = reading.sample.time.since_origin().value();
    if (std::lround(t * 50) % 2 == 0) reading.sample.sm_clock = Mhz(1395);
  };

  const Window still = steady.build().close();
  const Window slow = twice.build().close();
  const Window fast = often.build().close();

  ASSERT_TRUE(still.usable() && slow.usable() && fast.usable());
  EXPECT_LT(*still.time_error, 1e-6);
  EXPECT_NEAR(*slow.time_error, 15 * std::sqrt(0.25 * 0.75 / 2) / 1406, 2e-4);
  EXPECT_GT(*slow.energy_error, *still.energy_error);
  EXPECT_LT(*fast.time_error, *slow.time_error / 4);
}

TEST(WindowBuilder, RefusesAGpuThatOthersUse) {
  Story story;
  story.terms.job_processes = {42, 43};
  WindowBuilder builder = story.build();

  builder.add(std::vector<GpuProcess>{{42, {}}});
  EXPECT_FALSE(builder.spoiled());
  builder.add(std::vector<GpuProcess>{{42, {}}, {4242, {}}});

  EXPECT_TRUE(builder.spoiled());
  EXPECT_EQ(builder.close().unusable, "another process (pid 4242) used the GPU");
}

TEST(WindowBuilder, RefusesAnIdleGpuAndAPausedJob) {
  Story idle;
  idle.change_reading = [](SamplerReading& reading) { reading.sample.gpu_utilization = 0.0; };
  EXPECT_EQ(idle.refusal(), "the GPU was idle for 100 % of the time: the job was waiting");

  Story paused;
  paused.change_boundary = [](Boundary& boundary) {
    if (boundary.time > at(12)) boundary.time = boundary.time + Seconds(1);
  };
  EXPECT_EQ(paused.refusal(), "the job paused for 1.1 s of 5.0 s");
}

TEST(WindowBuilder, RefusesACounterThatStandsStillAndUnknownPower) {
  Story still;
  WindowBuilder builder = still.build();
  SamplerReading reading;
  reading.counter_stands_still = true;
  builder.add(reading);
  EXPECT_EQ(builder.close().unusable, "the energy counter stands still");

  Story unknown;
  unknown.counter = false;
  unknown.change_reading = [](SamplerReading& one) { one.sample.power_instant.reset(); };
  EXPECT_EQ(unknown.refusal(), "power is not known");
}

TEST(WindowBuilder, KeepsTheFirstReasonForRefusal) {
  WindowBuilder builder = Story().build();

  builder.refuse("the pattern broke");
  builder.refuse("something else");

  EXPECT_EQ(builder.close().unusable, "the pattern broke");
}

TEST(WindowBuilder, WantsTheCounterBehindLongIterations) {
  WindowBuilder builder({});
  EXPECT_FALSE(builder.wants_energy_counter());
  builder.add(Boundary{.pattern = {}, .time = at(1), .gpu_time = {}});
  EXPECT_TRUE(builder.wants_energy_counter());
  SamplerReading reading;
  reading.step = EnergyCounterStep{at(1.05), Joules(1)};
  builder.add(reading);
  EXPECT_FALSE(builder.wants_energy_counter());
  builder.add(Boundary{.pattern = {}, .time = at(1.1), .gpu_time = {}});
  EXPECT_FALSE(builder.wants_energy_counter());
  builder.add(Boundary{.pattern = {}, .time = at(1.5), .gpu_time = {}});
  EXPECT_TRUE(builder.wants_energy_counter());
}

}  // namespace
}  // namespace hypermile
