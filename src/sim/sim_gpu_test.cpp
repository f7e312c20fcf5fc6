// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_gpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/steady_state.h"
#include "testing/sim_fixture.h"

namespace hypermile {
namespace {

class SimGpuTest : public testing::Test {
 protected:
  static SimGpu card(const char* key, Clock& clock, bool exact = true) {
    GpuSheet sheet = sheet_of(key);
    if (exact) sheet.constants = typical(sheet.constants);
    SimGpuOptions options;
    if (exact) options.effects = kNoEffects;
    return SimGpu(std::move(sheet), clock, options);
  }

  VirtualClock clock_;
};

// Longest and shortest time between changes of a reading polled every millisecond.
template <class Read>
std::pair<double, double> change_intervals(VirtualClock& clock, int polls, Read read) {
  double last_value = read();
  double last_change = -1;
  std::pair<double, double> range = {kNever, 0};
  for (int i = 0; i < polls; ++i) {
    clock.advance(milliseconds(1));
    const double value = read();
    if (value == last_value) continue;
    const double now = clock.now().since_origin().value();
    if (last_change >= 0) {
      range.first = std::min(range.first, now - last_change);
      range.second = std::max(range.second, now - last_change);
    }
    last_change = now;
    last_value = value;
  }
  return range;
}

TEST_F(SimGpuTest, EnergyCounterMovesInStepsOf100MsOnAnH200) {
  SimGpu gpu = card("h200", clock_);
  gpu.start(workload_of("resnet50"));

  const auto [shortest, longest] =
      change_intervals(clock_, 3000, [&] { return gpu.read(Sensor::kEnergy)->energy->value(); });

  EXPECT_NEAR(shortest, 0.1, 0.0015);
  EXPECT_NEAR(longest, 0.1, 0.0015);
}

TEST_F(SimGpuTest, EnergyCounterAgreesWithTheTruthOnAnExactCard) {
  SimGpu gpu = card("a100-80", clock_);
  gpu.start(workload_of("resnet50"));

  clock_.advance(Seconds(100));
  const double shown = gpu.read(Sensor::kEnergy)->energy->value();
  const double truth = gpu.true_view().totals.energy_j;

  EXPECT_LE(shown, truth);
  EXPECT_GT(shown, truth * 0.998);
}

TEST_F(SimGpuTest, SensorsAreOffByAGainThatDiffersFromCardToCard) {
  std::set<double> gains;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SimGpuOptions options;
    options.seed = seed;
    SimGpu gpu(sheet_of("h200"), clock_, options);
    gains.insert(gpu.state().card.sensor_gain);
  }

  EXPECT_EQ(gains.size(), 5U);
}

TEST_F(SimGpuTest, PowerOfAnA100CoversOnlyAQuarterOfTheTime) {
  // 100 ms iterations: 50 ms of heavy work, then 50 ms of waiting.
  Workload workload;
  workload.load = simple_load(0, 0, milliseconds(50));
  workload.load.phases[0].part_count = 2;
  PartWork& heavy = workload.load.phases[0].parts[1];
  heavy.flops[static_cast<std::size_t>(Precision::kFp32)] = 19.5e12 * 0.05;
  SimGpu gpu = card("a100-40", clock_);
  gpu.start(workload);

  clock_.advance(Seconds(10.05));
  const double seen = gpu.read(Sensor::kPowerInstant)->power_instant->value();
  const double mean = gpu.true_view().totals.energy_j / 10.05;

  // Iterations are synchronous with the sensor, so it always sees the same quarter.
  EXPECT_GT(std::abs(seen / mean - 1), 0.1);
}

TEST_F(SimGpuTest, AveragedPowerIsThereOnlyWhereTheCardHasIt) {
  SimGpu volta = card("v100-pcie", clock_);
  SimGpu ampere = card("rtx3080ti", clock_);

  clock_.advance(Seconds(3));

  EXPECT_FALSE(volta.read(SensorSet::all())->power_average.has_value());
  ASSERT_TRUE(ampere.read(SensorSet::all())->power_average.has_value());
  EXPECT_NEAR(ampere.read(SensorSet::all())->power_average->value(), 30, 0.01);
}

TEST_F(SimGpuTest, PowerHistoryHoldsASampleEvery20Ms) {
  SimGpu gpu = card("h200", clock_);
  gpu.start(workload_of("resnet50"));
  clock_.advance(Seconds(1));

  const auto history = gpu.power_history(clock_.now() - Seconds(0.5));

  ASSERT_TRUE(history);
  ASSERT_GE(history->size(), 24U);
  EXPECT_NEAR((history->at(5).time - history->at(4).time).value(), 0.02, 1e-6);
}

TEST_F(SimGpuTest, UtilizationChangesEvery200MsAndIsWholePercent) {
  SimGpu gpu = card("h200", clock_);
  Workload workload;
  workload.load = simple_load(3e12, 0, milliseconds(30));
  workload.load.phases[0].length = {LengthKind::kUniform, 0.5, 0, 1};
  gpu.start(workload);

  const auto [shortest, longest] = change_intervals(
      clock_, 4000, [&] { return *gpu.read(Sensor::kUtilization)->gpu_utilization; });

  EXPECT_NEAR(shortest, 0.2, 0.0015);
  const double percent = *gpu.read(Sensor::kUtilization)->gpu_utilization * 100;
  EXPECT_NEAR(percent, std::round(percent), 1e-9);
  EXPECT_GE(longest, shortest);
}

TEST_F(SimGpuTest, ActivityNeedsAnIntervalAndAHopper) {
  SimGpu old_card = card("a100-40", clock_);
  SimGpu gpu = card("h200", clock_);
  gpu.start(workload_of("resnet50"));

  EXPECT_EQ(old_card.activity().error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(gpu.activity().error().code, ErrorCode::kNotReady);
  clock_.advance(milliseconds(50));
  EXPECT_EQ(gpu.activity().error().code, ErrorCode::kNotReady);
  clock_.advance(Seconds(2));
  const auto metrics = gpu.activity();

  ASSERT_TRUE(metrics);
  EXPECT_NEAR((metrics->to - metrics->from).value(), 2.05, 1e-6);
  EXPECT_NEAR(metrics->dram_bandwidth.value_or(0.55), 0.55, 0.1);
  EXPECT_NEAR(metrics->any_tensor.value_or(0.12), 0.12, 0.03);
}

TEST_F(SimGpuTest, ActivityIsMissingNowAndThen) {
  SimGpu gpu = card("h200", clock_);
  gpu.start(workload_of("resnet50"));
  int missing = 0;
  for (int i = 0; i < 2000; ++i) {
    clock_.advance(milliseconds(200));
    if (const auto metrics = gpu.activity(); metrics && !metrics->sm) ++missing;
  }

  EXPECT_GT(missing, 0);
  EXPECT_LT(missing, 30);
}

TEST_F(SimGpuTest, RefusesWhatTheCardCannotDo) {
  SimGpu gpu = card("v100-pcie", clock_);

  const ApplyOutcome outcome =
      gpu.apply({.sm_clock = Mhz(1376), .memory_clock = Mhz(877), .power_limit = Watts(20)});

  ASSERT_EQ(outcome.size(), 3U);
  for (const KnobOutcome& knob : outcome) EXPECT_FALSE(knob.result) << to_string(knob.knob);
  EXPECT_TRUE(gpu.state().requested.empty());
}

TEST_F(SimGpuTest, AppliesAndResets) {
  SimGpu gpu = card("h200", clock_);
  gpu.start(workload_of("resnet50"));

  EXPECT_TRUE(all_applied(gpu.apply({.sm_clock = Mhz(1200), .memory_clock = Mhz(2201)})));
  clock_.advance(Seconds(1));
  const Sample locked = *gpu.read(Sensor::kClocks);
  EXPECT_TRUE(gpu.reset(Knob::kSmClock));
  EXPECT_TRUE(gpu.reset(Knob::kMemoryClock));
  EXPECT_TRUE(gpu.reset(Knob::kPowerLimit));
  clock_.advance(Seconds(1));
  const Sample reset = *gpu.read(Sensor::kClocks);

  EXPECT_EQ(locked.sm_clock, Mhz(1200));
  EXPECT_EQ(locked.memory_clock, Mhz(2201));
  EXPECT_EQ(reset.sm_clock, Mhz(1980));
  EXPECT_EQ(reset.memory_clock, Mhz(3201));
}

TEST_F(SimGpuTest, ARequestBlocksItsCaller) {
  SimGpu gpu = card("h200", clock_);
  const Instant before = clock_.now();

  gpu.apply({.sm_clock = Mhz(1200)});

  EXPECT_GT(clock_.now() - before, milliseconds(0.5));
  EXPECT_LT(clock_.now() - before, milliseconds(60));
}

TEST_F(SimGpuTest, RunsAtTheTimeAndPowerOfTheSteadyStateOnEveryCard) {
  const Workload workload = workload_of("resnet50");
  for (const std::string& key : gpu_sheet_keys()) {
    VirtualClock clock;
    SimGpu gpu = card(key.c_str(), clock);
    const GpuConstants& constants = gpu.sheet().constants;
    const Setting setting = {.sm_clock = gpu.capabilities().sm_clocks[40]};
    const SteadyState truth =
        steady_state(constants, workload.load, setting, CardTraits(), kNoEffects);
    gpu.start(workload);
    gpu.apply(setting);
    clock.advance(Seconds(2000));

    const SimView from = gpu.true_view();
    clock.advance(truth.time * 4000);
    const SimView to = gpu.true_view();

    const double iterations = to.iterations - from.iterations;
    EXPECT_NEAR(iterations / 4000, 1, 0.01) << key;
    EXPECT_NEAR((to.totals.energy_j - from.totals.energy_j) / iterations / truth.energy().value(),
                1, 0.015)
        << key;
  }
}

// A heat sink with twice the heat capacity reaches the die's limit at the default after minutes.
TEST_F(SimGpuTest, TheSteadyStateIncludesThatAHotCardSlowsDown) {
  const Workload workload = workload_of("resnet50_b128");
  Effects hot = kNoEffects;
  hot.thermal_memory = 2;
  GpuSheet sheet = sheet_of("rtx3080ti");
  sheet.constants = typical(sheet.constants);
  const SteadyState truth = steady_state(sheet.constants, workload.load, {}, CardTraits(), hot);
  const SteadyState cool =
      steady_state(sheet.constants, workload.load, {}, CardTraits(), kNoEffects);
  SimGpu gpu(sheet, clock_, {.effects = hot});
  gpu.start(workload);
  clock_.advance(Seconds(3000));

  const double from = gpu.iterations();
  clock_.advance(Seconds(600));
  const double time = 600 / (gpu.iterations() - from);

  EXPECT_GT(truth.time / cool.time, 1.03);
  EXPECT_NEAR(time / truth.time.value(), 1, 0.01);
}

TEST_F(SimGpuTest, OneSeedMeetsTheSameSlowMinutesAtEverySetting) {
  const auto slow_minutes = [](std::optional<Mhz> sm_clock) {
    VirtualClock clock;
    SimGpu gpu = card("rtx3080ti", clock, false);
    gpu.start(workload_of("gpt2_long_step"));
    if (sm_clock) gpu.apply({.sm_clock = sm_clock});
    std::vector<bool> slow;
    for (int minute = 0; minute < 60; ++minute) {
      clock.advance(Seconds(60));
      slow.push_back(gpu.state().slow_level);
    }
    return slow;
  };

  const std::vector<bool> at_default = slow_minutes(std::nullopt);

  EXPECT_EQ(slow_minutes(Mhz(1200)), at_default);
  EXPECT_NE(std::ranges::find(at_default, true), at_default.end());
}

TEST_F(SimGpuTest, AJobEndsByItself) {
  SimGpu gpu = card("h200", clock_);
  gpu.start(workload_of("resnet50"), 50);

  clock_.advance(Seconds(60));

  EXPECT_FALSE(gpu.running());
  EXPECT_EQ(gpu.iterations(), 50);
  EXPECT_LT(gpu.read(Sensor::kPowerInstant)->power_instant->value(), 80);
}

TEST_F(SimGpuTest, TheTrueCurveHasTheDefaultFirstAndOnlySettingsBelowIt) {
  const GpuSheet sheet = sheet_of("rtx3080ti");

  const Curve curve =
      true_curve(sheet, workload_of("resnet50"), {Knob::kSmClock, Knob::kMemoryClock});

  EXPECT_TRUE(curve.default_point().setting.empty());
  EXPECT_GT(curve.points.size(), 200U);
  for (const CurvePoint& point : curve.points) {
    EXPECT_GE(point.time.value(), curve.default_point().time.value() * 0.9);
    EXPECT_LT(point.setting.sm_clock.value_or(Mhz(0)), Mhz(1951));
  }
}

}  // namespace
}  // namespace hypermile
