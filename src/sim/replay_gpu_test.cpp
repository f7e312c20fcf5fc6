// SPDX-License-Identifier: Apache-2.0
#include "sim/replay_gpu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "measure/window_meter.h"

namespace hypermile {
namespace {

// 1000 MHz: 50 ms, 200 W by default. 800 MHz: 10 % slower, 150 W. Memory 500: 30 % slower, 120 W.
Curve example_curve() {
  std::istringstream in(
      "gpu,workload,sm_mhz,mem_mhz,time_s,power_w,is_default\n"
      "card,net,1000,900,0.05,200,1\n"
      "card,net,800,900,0.055,150,0\n"
      "card,net,1000,500,0.065,120,0\n");
  const auto file = read_sweep(in, "s.csv");
  EXPECT_TRUE(file.ok());
  return make_curves(*file, {}).curves.at(0);
}

ReplayOptions quiet() {
  ReplayOptions options;
  options.time_noise = 0;
  options.power_noise = 0;
  return options;
}

Window measure(ReplayGpu& gpu, VirtualClock& clock, const Setting& setting, Seconds length) {
  WindowMeter meter(setting, clock.now(), gpu.iterations());
  const Instant end = clock.now() + length;
  while (clock.now() < end) {
    meter.add(*gpu.read(SensorSet::all()));
    clock.advance(milliseconds(10));
  }
  return meter.close(clock.now(), gpu.iterations());
}

TEST(ReplayGpu, RunsAtTheTimeAndPowerThatWereMeasured) {
  VirtualClock clock;
  ReplayGpu gpu(example_curve(), clock, quiet());
  const Setting slow{.sm_clock = Mhz(800)};

  const Window base = measure(gpu, clock, {}, Seconds(5));
  ASSERT_TRUE(all_applied(gpu.apply(slow)).ok());
  clock.advance(Seconds(1));
  const Window window = measure(gpu, clock, slow, Seconds(5));

  EXPECT_NEAR(base.time_per_iteration->value(), 0.05, 1e-6);
  EXPECT_NEAR(base.power->value(), 200, 1e-6);
  EXPECT_NEAR(window.time_per_iteration->value(), 0.055, 1e-6);
  EXPECT_NEAR(window.power->value(), 150, 1e-6);
  EXPECT_EQ(window.sm_clock, Mhz(800));
}

TEST(ReplayGpu, ARequestActsOnlyAfterADelay) {
  VirtualClock clock;
  ReplayOptions options = quiet();
  options.latency_min = options.latency_max = Seconds(0.5);
  ReplayGpu gpu(example_curve(), clock, options);

  ASSERT_TRUE(all_applied(gpu.apply({.sm_clock = Mhz(800)})).ok());

  clock.advance(Seconds(0.4));
  EXPECT_EQ(gpu.read(Sensor::kClocks)->sm_clock, Mhz(1000));
  clock.advance(Seconds(0.2));
  EXPECT_EQ(gpu.read(Sensor::kClocks)->sm_clock, Mhz(800));
}

TEST(ReplayGpu, RefusesASettingThatWasNotMeasuredAndStaysWhereItIs) {
  VirtualClock clock;
  ReplayGpu gpu(example_curve(), clock, quiet());

  const ApplyOutcome outcome = gpu.apply({.sm_clock = Mhz(810)});

  EXPECT_EQ(all_applied(outcome).error().line(),
            "sm: sm=810MHz was not measured in this sweep; the nearest measured setting is "
            "sm=800MHz");
  clock.advance(Seconds(1));
  EXPECT_EQ(gpu.read(Sensor::kClocks)->sm_clock, Mhz(1000));
  EXPECT_FALSE(all_applied(gpu.apply({.sm_clock = Mhz(800), .memory_clock = Mhz(500)})).ok())
      << "each was measured, but not both together";
}

TEST(ReplayGpu, ResetGivesTheDefaultBack) {
  VirtualClock clock;
  ReplayGpu gpu(example_curve(), clock, quiet());
  ASSERT_TRUE(all_applied(gpu.apply({.memory_clock = Mhz(500)})).ok());
  clock.advance(Seconds(1));
  ASSERT_EQ(gpu.read(Sensor::kClocks)->memory_clock, Mhz(500));

  for (const Knob knob : kAllKnobs) EXPECT_TRUE(gpu.reset(knob).ok());

  clock.advance(Seconds(1));
  EXPECT_EQ(gpu.read(Sensor::kClocks)->memory_clock, Mhz(900));
  EXPECT_NEAR(gpu.read(Sensor::kPowerInstant)->power_instant->value(), 200, 1e-9);
}

TEST(ReplayGpu, WindowsScatterByTheNoiseAskedFor) {
  VirtualClock clock;
  ReplayOptions options;
  options.time_noise = 0.02;
  ReplayGpu gpu(example_curve(), clock, options);
  double squares = 0;
  constexpr int kWindows = 400;

  for (int i = 0; i < kWindows; ++i) {
    const Window window = measure(gpu, clock, {}, Seconds(1.5));  // 30 iterations
    const double error = *window.time_per_iteration / Seconds(0.05) - 1;
    squares += error * error;
  }

  EXPECT_NEAR(std::sqrt(squares / kWindows), 0.02, 0.003);
}

TEST(ReplayGpu, SensorsChangeOnlyEverySoOften) {
  VirtualClock clock;
  ReplayGpu gpu(example_curve(), clock, {});
  const Joules before = *gpu.read(Sensor::kEnergy)->energy;

  clock.advance(milliseconds(90));
  EXPECT_EQ(*gpu.read(Sensor::kEnergy)->energy, before);

  clock.advance(milliseconds(20));
  EXPECT_GT(*gpu.read(Sensor::kEnergy)->energy, before);
}

TEST(ReplayGpu, SameSeedSameRun) {
  const auto run = [](std::uint64_t seed) {
    VirtualClock clock;
    ReplayOptions options;
    options.seed = seed;
    options.drift = 0.01;
    ReplayGpu gpu(example_curve(), clock, options);
    clock.advance(Seconds(100));
    return gpu.iterations();
  };

  EXPECT_EQ(run(3), run(3));
  EXPECT_NE(run(3), run(4));
}

TEST(ReplayGpu, DriftSwingsTheTimePerIteration) {
  VirtualClock clock;
  ReplayOptions options = quiet();
  options.drift = 0.05;
  ReplayGpu gpu(example_curve(), clock, options);
  double lowest = 1;
  double highest = 0;

  for (int i = 0; i < 60; ++i) {
    const double time = measure(gpu, clock, {}, Seconds(10)).time_per_iteration->value();
    lowest = std::min(lowest, time);
    highest = std::max(highest, time);
  }

  EXPECT_NEAR(lowest, 0.05 * 0.95, 2e-4);
  EXPECT_NEAR(highest, 0.05 * 1.05, 2e-4);
}

TEST(ReplayGpu, ScalesSweepsOfWholeEpochsToIterations) {
  VirtualClock clock;
  ReplayOptions options = quiet();
  options.iteration = milliseconds(200);
  ReplayGpu gpu(example_curve(), clock, options);

  clock.advance(Seconds(20));

  EXPECT_NEAR(gpu.iterations(), 100, 1e-6);
}

TEST(ReplayGpu, ListsTheSettingsOfTheSweep) {
  VirtualClock clock;
  const ReplayGpu gpu(example_curve(), clock, {});

  EXPECT_EQ(gpu.capabilities().sm_clocks, (std::vector{Mhz(1000), Mhz(800)}));
  EXPECT_EQ(gpu.capabilities().memory_clocks, (std::vector{Mhz(900), Mhz(500)}));
  EXPECT_EQ(gpu.capabilities().power_limit_set, Support::kNo);
}

TEST(ReplayGpu, KeepsABoundedHistoryOfPower) {
  VirtualClock clock;
  ReplayGpu gpu(example_curve(), clock, {});
  clock.advance(Seconds(60));

  const auto history = gpu.power_history(clock.now() - Seconds(1));

  ASSERT_TRUE(history.ok());
  EXPECT_NEAR(static_cast<double>(history->size()), 50, 1);
}

}  // namespace
}  // namespace hypermile
