// SPDX-License-Identifier: Apache-2.0
#include "sim/limiter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gpu/gpu.h"
#include "sim/steady_state.h"
#include "testing/sim_fixture.h"

namespace hypermile {
namespace {

struct Means {
  double power_w = 0, clock_mhz = 0, clock_deviation = 0, capped_share = 0,
         seconds_per_iteration = 0;
};

// Means over `seconds` after a warm-up; the clock is read every 10 ms.
Means measure(const GpuConstants& gpu, const Load& load, const Setting& setting,
              const Effects& effects = kNoEffects, double seconds = 30) {
  SimGpuState state = make_sim_gpu(gpu, 1, effects);
  start_job(state, gpu, load);
  for (const Knob knob : kAllKnobs) {
    if (const auto value = setting.value(knob)) request(state, gpu, knob, value);
  }
  const double warm = 300;
  advance(state, gpu, &load, Seconds(warm));
  const SimView from = view(state, gpu, &load);
  Means run;
  double squares = 0;
  const int reads = static_cast<int>(seconds * 100);
  for (int i = 1; i <= reads; ++i) {
    advance(state, gpu, &load, Seconds(warm + 0.01 * i));
    const SimView now = view(state, gpu, &load);
    run.clock_mhz += now.sm_reported.value();
    squares += now.sm_reported.value() * now.sm_reported.value();
    if ((now.reasons & EventReasons::kSoftwarePowerCap) != 0) run.capped_share += 1;
  }
  const SimView to = view(state, gpu, &load);
  run.clock_mhz /= reads;
  run.capped_share /= reads;
  squares /= reads;
  run.clock_deviation = std::sqrt(std::max(0.0, squares - run.clock_mhz * run.clock_mhz));
  run.power_w = (to.totals.energy_j - from.totals.energy_j) / seconds;
  run.seconds_per_iteration = seconds / (to.iterations - from.iterations);
  return run;
}

Load heavy() {
  return simple_load(14.1e12 * 0.02, 0);
}

TEST(Limiter, HoldsPowerAtTheLimitAndSaysSo) {
  const GpuConstants gpu = typical(sheet_of("v100-pcie").constants);

  const Means unheld = measure(gpu, heavy(), {});
  const Means held = measure(gpu, heavy(), {.power_limit = Watts(150)});

  EXPECT_EQ(unheld.clock_mhz, 1380);
  EXPECT_EQ(unheld.capped_share, 0);
  EXPECT_LT(held.power_w, 150.5);
  EXPECT_GT(held.power_w, 140);
  EXPECT_EQ(held.capped_share, 1);
  EXPECT_LT(held.clock_mhz, unheld.clock_mhz);
  EXPECT_EQ(std::fmod(held.clock_mhz, 0.5),
            0);  // without hunting it settles on one clock of the list
}

TEST(Limiter, ALowerLimitNeverRunsFaster) {
  const GpuConstants gpu = typical(sheet_of("a4000").constants);

  double before = 0;
  for (const double limit : {140.0, 130.0, 120.0, 110.0, 100.0}) {
    const Means run = measure(gpu, simple_load(1e12, 1e9), {.power_limit = Watts(limit)});
    EXPECT_GE(run.seconds_per_iteration, before * 0.9999) << limit;
    before = run.seconds_per_iteration;
  }
}

TEST(Limiter, AClockLockBelowTheLimitLiftsTheCap) {
  const GpuConstants gpu = typical(sheet_of("a4000").constants);
  const Load load = simple_load(1e12, 0);

  const Means held = measure(gpu, load, {});
  const Means locked = measure(gpu, load, {.sm_clock = Mhz(1335)});

  EXPECT_GT(held.capped_share, 0.9);
  EXPECT_EQ(locked.capped_share, 0);
  EXPECT_EQ(locked.clock_mhz, 1335);
}

TEST(Limiter, H200HoldsZerosDownAtHalfItsPowerLimit) {
  const GpuConstants gpu = typical(sheet_of("h200").constants);
  Load load;
  load.phase_count = 1;
  load.phases[0].part_count = 1;
  PartWork& part = load.phases[0].parts[0];
  part.flops[static_cast<std::size_t>(Precision::kBf16)] = 1.1e12;
  part.compute_efficiency = 0.834;
  part.activity = 0.2;

  const Means zeros = measure(gpu, load, {});

  EXPECT_NEAR(zeros.clock_mhz, 1759, 30);
  EXPECT_LT(zeros.power_w, 420);
  EXPECT_EQ(zeros.capped_share, 1);
}

TEST(Limiter, AHotCardSlowsDown) {
  GpuConstants gpu = typical(sheet_of("v100-pcie").constants);
  gpu.thermal.ambient = Celsius(80);

  const Means hot = measure(gpu, heavy(), {});

  EXPECT_LT(hot.clock_mhz, 1380);
}

TEST(Limiter, AgreesWithTheSteadyStateWhenItCannotHunt) {
  for (const char* key : {"v100-pcie", "rtx3080ti", "a4000"}) {
    const GpuConstants gpu = typical(sheet_of(key).constants);
    const Load load = simple_load(1e12, 2e10);
    const Setting setting = {.power_limit = gpu.limit.min + (gpu.limit.normal - gpu.limit.min) / 2};

    const Means run = measure(gpu, load, setting);
    const SteadyState truth = steady_state(gpu, load, setting, CardTraits(), kNoEffects);

    EXPECT_NEAR(run.power_w / truth.power.value(), 1, 0.02) << key;
    EXPECT_NEAR(run.seconds_per_iteration / truth.time.value(), 1, 0.02) << key;
  }
}

TEST(Limiter, AgreesWithTheSteadyStateWhileItHunts) {
  for (const double strength : {1.0, 2.0}) {
    for (const char* key : {"v100-pcie", "rtx3080ti", "a4000"}) {
      const GpuConstants gpu = typical(sheet_of(key).constants);
      const Load load = simple_load(1e12, 2e10);
      const Effects hunts = {1, strength, 0, 1};
      const Setting half = {.power_limit = gpu.limit.min + (gpu.limit.normal - gpu.limit.min) / 2};
      for (const Setting& setting : {Setting(), half}) {
        const Means run = measure(gpu, load, setting, hunts, 200);
        const SteadyState truth = steady_state(gpu, load, setting, CardTraits(), hunts);

        EXPECT_NEAR(run.power_w / truth.power.value(), 1, 0.005) << key << strength;
        EXPECT_NEAR(run.seconds_per_iteration / truth.time.value(), 1, 0.005) << key << strength;
      }
    }
  }
}

TEST(Effects, LimiterHuntingSawsTheClock) {
  const GpuConstants gpu = typical(sheet_of("h200").constants);
  Load load = simple_load(0, 0);
  load.phases[0].parts[0].flops[static_cast<std::size_t>(Precision::kBf16)] = 1.1e12;
  load.phases[0].parts[0].compute_efficiency = 0.834;
  const auto deviation = [&](double strength) {
    return measure(gpu, load, {}, {0, strength, 0, 0}).clock_deviation;
  };

  const double off = deviation(0);
  const double normal = deviation(1);
  const double doubled = deviation(2);

  EXPECT_LT(off, 8);
  EXPECT_GT(normal, 20);
  EXPECT_GT(doubled, 1.5 * normal);
}

TEST(Effects, ThermalMemoryMakesLeakageDependOnThePast) {
  const GpuConstants gpu = typical(sheet_of("v100-pcie").constants);
  const Load load = heavy();
  // Difference of power between a minute after a heavy half hour and a minute after idling, at the
  // same job and clock.
  const auto difference = [&](double strength) {
    SimGpuState cold = make_sim_gpu(gpu, 1, {strength, 0, 0, 0});
    SimGpuState hot = cold;
    start_job(hot, gpu, load);
    advance(hot, gpu, &load, Seconds(1800));
    advance(cold, gpu, nullptr, Seconds(1800));
    start_job(cold, gpu, load);
    advance(hot, gpu, &load, Seconds(1830));
    advance(cold, gpu, &load, Seconds(1830));
    return hot.segment.power_w - cold.segment.power_w;
  };

  const double off = difference(0);
  const double normal = difference(1);
  const double doubled = difference(2);

  EXPECT_NEAR(off, 0, 0.02);
  EXPECT_GT(normal, 0.3);
  EXPECT_GT(doubled, 1.7 * normal);
}

TEST(Effects, TwoLevelTimesSlowTheJobForMinutes) {
  const GpuConstants gpu = typical(sheet_of("v100-pcie").constants);
  const Load load = simple_load(14.1e12 * 0.05, 0);
  const auto spread = [&](double strength) {
    SimGpuState state = make_sim_gpu(gpu, 1, {0, 0, strength, 0});
    start_job(state, gpu, load);
    double fastest = kNever;
    double slowest = 0;
    for (double t = 10; t < 3000; t += 10) {
      advance(state, gpu, &load, Seconds(t));
      fastest = std::min(fastest, state.job.factor);
      slowest = std::max(slowest, state.job.factor);
    }
    return slowest / fastest - 1;
  };

  EXPECT_EQ(spread(0), 0);
  EXPECT_NEAR(spread(1), 0.03, 1e-9);
  EXPECT_NEAR(spread(2), 0.06, 1e-9);
}

TEST(Effects, ClockStretchingHidesALowerClock) {
  GpuConstants gpu = typical(sheet_of("h200").constants);
  gpu.limiter.estimate_watts_per_mhz = 0;
  Load load = simple_load(0, 0, milliseconds(40));
  load.phases[0].parts[0].flops[static_cast<std::size_t>(Precision::kBf16)] = 8e12;
  load.phases[0].parts[0].compute_efficiency = 0.834;
  const auto hidden = [&](double strength) {
    const SimGpuState state = run_job(gpu, load, 10, {0, 0, 0, strength});
    return state.segment.sm_reported_mhz - state.segment.sm_true_mhz;
  };

  EXPECT_NEAR(hidden(0), 0, 1e-9);
  EXPECT_NEAR(hidden(1), 200, 60);
  EXPECT_NEAR(hidden(2), 2 * hidden(1), 5);
}

}  // namespace
}  // namespace hypermile
