// SPDX-License-Identifier: Apache-2.0
#include "sim/advance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "gpu/gpu.h"
#include "sim/launches.h"
#include "testing/sim_fixture.h"

namespace hypermile {
namespace {

struct Collecting final : JobObserver {
  void finished(const FinishedUnit& unit) override { units.push_back(unit); }
  std::vector<FinishedUnit> units;
};

bool same_numbers(const SimGpuState& a, const SimGpuState& b) {
  return a.totals.energy_j == b.totals.energy_j && a.random.state == b.random.state &&
         a.job.train_iterations == b.job.train_iterations && a.job.done == b.job.done &&
         a.die_c == b.die_c && a.limiter.trim_mhz == b.limiter.trim_mhz &&
         a.sensors.shown_power_w == b.sensors.shown_power_w &&
         a.sensors.shown_energy_j == b.sensors.shown_energy_j &&
         a.ticks.start_s == b.ticks.start_s && a.segment.start_s == b.segment.start_s;
}

TEST(Advance, OneStepAndManyGiveTheSameBits) {
  for (const char* key : {"h200", "rtx3080ti", "v100-sxm2"}) {
    const GpuConstants gpu = sheet_of(key).constants;
    const Load load = workload_of("resnet50").load;
    SimGpuState one = make_sim_gpu(gpu, 7);
    start_job(one, gpu, load);
    SimGpuState many = one;

    advance(one, gpu, &load, Seconds(20));
    SimRandom steps{3};
    for (double t = 0; t < 20; t += 0.03 * steps.uniform()) advance(many, gpu, &load, Seconds(t));
    advance(many, gpu, &load, Seconds(20));

    EXPECT_TRUE(same_numbers(one, many)) << key;
  }
}

TEST(Advance, EqualSeedsGiveEqualCardsAndOthersDoNot) {
  const GpuConstants gpu = sheet_of("h200").constants;
  const Load load = workload_of("gpt2").load;

  const SimGpuState a = run_job(gpu, load, 30, Effects(), 5);
  const SimGpuState b = run_job(gpu, load, 30, Effects(), 5);
  const SimGpuState c = run_job(gpu, load, 30, Effects(), 6);

  EXPECT_TRUE(same_numbers(a, b));
  EXPECT_NE(a.totals.energy_j, c.totals.energy_j);
  EXPECT_NE(a.card.core, c.card.core);
}

TEST(Advance, DoesNotGoBack) {
  const GpuConstants gpu = sheet_of("h200").constants;
  const Load load = workload_of("resnet50").load;
  SimGpuState state = run_job(gpu, load, 3);
  const SimGpuState before = state;

  advance(state, gpu, &load, Seconds(1));

  EXPECT_TRUE(same_numbers(before, state));
  EXPECT_EQ(state.now_s, 3);
}

TEST(Advance, AnIdleCardDrawsItsIdlePower) {
  const GpuConstants gpu = sheet_of("a100-40").constants;
  SimGpuState state = make_sim_gpu(gpu, 1);

  advance(state, gpu, nullptr, Seconds(10));

  EXPECT_NEAR(view(state, gpu, nullptr).totals.energy_j, 10 * gpu.power.idle.value(), 1e-6);
  EXPECT_EQ(view(state, gpu, nullptr).reasons, EventReasons::kIdle);
  EXPECT_EQ(view(state, gpu, nullptr).sm_reported, gpu.clocks.sm_idle);
}

TEST(Advance, TicksAreTheStartsOfIterations) {
  const GpuConstants gpu = typical(sheet_of("v100-pcie").constants);
  const Load load = simple_load(14.1e12 * 0.05, 0);  // 50 ms each

  const SimGpuState state = run_job(gpu, load, 1.02);

  ASSERT_EQ(state.ticks.count, 20U);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_NEAR(state.ticks.start_s[i], 0.05 * static_cast<double>(i), 1e-6);
  }
  EXPECT_NEAR(view(state, gpu, &load).iterations, 20.4, 1e-4);
}

TEST(Advance, ShortIterationsRunInBlocksAtTheSameRate) {
  const GpuConstants gpu = typical(sheet_of("v100-pcie").constants);
  const Load load = simple_load(14.1e12 * 0.0005, 0);  // 0.5 ms each

  const SimGpuState state = run_job(gpu, load, 10);

  EXPECT_NEAR(view(state, gpu, &load).iterations, 20000, 1);
}

TEST(Advance, EvaluationRunsAfterEverySoManyIterations) {
  const GpuConstants gpu = typical(sheet_of("v100-pcie").constants);
  Load load = simple_load(14.1e12 * 0.05, 0);
  load.phase_count = 2;
  load.phases[1] = load.phases[0];
  load.phases[1].every = 10;
  load.phases[1].iterations = 3;
  SimGpuState state = make_sim_gpu(gpu, 1, kNoEffects);
  Collecting seen;

  start_job(state, gpu, load, 40);
  advance(state, gpu, &load, Seconds(100), &seen);

  std::string phases;
  for (const FinishedUnit& unit : seen.units) phases += static_cast<char>('0' + unit.phase);
  EXPECT_EQ(phases.substr(0, 26), "00000000001110000000000111");
  EXPECT_FALSE(state.job.running);
  EXPECT_EQ(state.job.train_iterations, 40U);
}

TEST(Advance, MicroBatchesRepeatTheirPartsBeforeTheOthers) {
  const GpuConstants gpu = typical(sheet_of("h200").constants);
  const Load load = workload_of("gpt2").load;
  SimGpuState state = make_sim_gpu(gpu, 1, kNoEffects);
  Collecting seen;

  start_job(state, gpu, load);
  advance(state, gpu, &load, Seconds(2), &seen);

  std::string parts;
  for (const FinishedUnit& unit : seen.units) parts += static_cast<char>('0' + unit.part);
  EXPECT_EQ(parts.substr(0, 18), "010101010101010120");
}

TEST(Advance, VariableBatchesScatterAroundTheMean) {
  const GpuConstants gpu = typical(sheet_of("v100-pcie").constants);
  Load load = simple_load(14.1e12 * 0.05, 0);
  load.phases[0].length = {LengthKind::kLognormal, 0.3, 0, 1};
  SimGpuState state = make_sim_gpu(gpu, 1, kNoEffects);
  Collecting seen;

  start_job(state, gpu, load);
  advance(state, gpu, &load, Seconds(200), &seen);

  double sum = 0;
  double squares = 0;
  for (const FinishedUnit& unit : seen.units) {
    sum += unit.duration_s;
    squares += unit.duration_s * unit.duration_s;
  }
  const double n = static_cast<double>(seen.units.size());
  const double mean = sum / n;
  EXPECT_NEAR(mean, 0.05, 0.001);
  EXPECT_NEAR(std::sqrt(squares / n - mean * mean) / mean, 0.3, 0.03);
}

TEST(Advance, AnAperiodicJobDrawsItsPhasesByWeight) {
  const GpuConstants gpu = typical(sheet_of("v100-pcie").constants);
  Load load = simple_load(14.1e12 * 0.05, 0);
  load.aperiodic = true;
  load.phase_count = 2;
  load.phases[1] = load.phases[0];
  load.phases[0].weight = 3;
  load.phases[1].weight = 1;
  SimGpuState state = make_sim_gpu(gpu, 1, kNoEffects);
  Collecting seen;

  start_job(state, gpu, load);
  advance(state, gpu, &load, Seconds(200), &seen);

  const auto second =
      std::ranges::count_if(seen.units, [](const FinishedUnit& unit) { return unit.phase == 1; });
  EXPECT_NEAR(static_cast<double>(second) / static_cast<double>(seen.units.size()), 0.25, 0.03);
  EXPECT_EQ(state.job.train_iterations, seen.units.size());
}

TEST(Advance, WorkDriftsAsTheFileSays) {
  const GpuConstants gpu = typical(sheet_of("v100-pcie").constants);
  Load load = simple_load(14.1e12 * 0.05, 0);
  load.drift = 0.5;
  load.drift_iterations = 100;

  const SimGpuState state = run_job(gpu, load, 60);

  const std::uint64_t last = state.ticks.count - 1;
  const double duration =
      state.ticks.start_s[last % kTickRing] - state.ticks.start_s[(last - 1) % kTickRing];
  EXPECT_NEAR(duration, 0.075, 1e-6);
}

TEST(Advance, ARequestActsAfterItsDelay) {
  const GpuConstants gpu = typical(sheet_of("v100-pcie").constants);
  const Load load = simple_load(1e12, 0);
  SimGpuState state = run_job(gpu, load, 1);

  const Seconds blocked = request(state, gpu, Knob::kSmClock, 945);
  const double due = state.pending[0].at_s;
  advance(state, gpu, &load, Seconds(due - 1e-6));
  const Mhz before = view(state, gpu, &load).sm_reported;
  advance(state, gpu, &load, Seconds(due + 1e-6));

  EXPECT_GT(blocked, Seconds(0));
  EXPECT_EQ(before, Mhz(1380));
  EXPECT_EQ(view(state, gpu, &load).sm_reported, Mhz(945));
  EXPECT_EQ(view(state, gpu, &load).reasons, EventReasons::kRequestedClocks);
}

TEST(Advance, DelaysHaveTheSheetsMedianAndTail) {
  const GpuConstants gpu = sheet_of("h200").constants;
  SimGpuState state = make_sim_gpu(gpu, 3);
  std::vector<double> delays;
  for (int i = 0; i < 4000; ++i) {
    request(state, gpu, Knob::kSmClock, 1500);
    delays.push_back(state.pending[0].at_s - state.now_s);
  }
  std::ranges::sort(delays);

  EXPECT_NEAR(delays[2000], 0.006, 0.0004);
  EXPECT_NEAR(delays[3960], 0.020, 0.003);
}

TEST(Advance, AMemoryClockChangeStallsTraffic) {
  const GpuConstants gpu = typical(sheet_of("rtx3080ti").constants);
  const Load load = simple_load(0, 8.4e9);
  SimGpuState state = run_job(gpu, load, 1);
  request(state, gpu, Knob::kMemoryClock, 5001);
  const double due = state.pending[1].at_s;
  advance(state, gpu, &load, Seconds(due));
  const double before = view(state, gpu, &load).iterations;

  advance(state, gpu, &load, Seconds(due + gpu.switching.memory_stall.value() - 1e-6));
  const double stalled = view(state, gpu, &load).iterations;
  advance(state, gpu, &load, Seconds(due + 1));

  EXPECT_NEAR(stalled, before, 1e-9);
  EXPECT_GT(view(state, gpu, &load).iterations, before + 10);
}

TEST(Advance, LaunchesComeInOrderAndAsManyAsTheLoadSays) {
  const GpuConstants gpu = typical(sheet_of("h200").constants);
  const Load load = workload_of("resnet50").load;
  struct Sink final : LaunchSink {
    void launch(const SimLaunch& launch) override {
      EXPECT_GE(launch.time_s, last);
      EXPECT_GE(launch.gpu_s.value(), launch.time_s);
      EXPECT_GE(launch.blocks, 1U);
      last = launch.time_s;
      ++count;
      highest = std::max(highest, launch.kernel);
    }
    void reached(double) override { FAIL() << "this host is not ahead"; }
    double last = 0;
    std::uint64_t count = 0;
    std::uint32_t highest = 0;
  } sink;
  Collecting seen;
  SimGpuState state = make_sim_gpu(gpu, 1, kNoEffects);

  start_job(state, gpu, load, 20);
  advance(state, gpu, &load, Seconds(20), &seen);
  LaunchEmitter emitter(load);
  for (const FinishedUnit& unit : seen.units) emitter.emit(unit, sink);

  EXPECT_EQ(sink.count, 20U * (175 + 360 + 12));
  EXPECT_EQ(sink.highest, 175U + 360 + 12);
}

}  // namespace
}  // namespace hypermile
