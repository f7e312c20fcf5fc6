// SPDX-License-Identifier: Apache-2.0
//
// How much faster than real time the simulator runs on one core: a card under a job, read 50 times
// per simulated second as a controller reads it (power, energy, clocks, event reasons), with and
// without kernel launches. `x_real_time` is simulated seconds per second.
#include <benchmark/benchmark.h>

#include "sim/launches.h"
#include "sim/sim_gpu.h"

namespace hypermile {
namespace {

constexpr Seconds kSampling = milliseconds(20);
constexpr SensorSet kRead =
    Sensor::kPowerInstant | Sensor::kEnergy | Sensor::kClocks | Sensor::kEventReasons;

struct Counting final : LaunchSink, JobObserver {
  explicit Counting(const Load& job) : emitter(job) {}
  void finished(const FinishedUnit& unit) override { emitter.emit(unit, *this); }
  void launch(double time_s, double, std::uint32_t kernel) override {
    benchmark::DoNotOptimize(time_s);
    benchmark::DoNotOptimize(kernel);
    ++count;
  }
  LaunchEmitter emitter;
  std::uint64_t count = 0;
};

void run(benchmark::State& bench, const char* gpu_key, const char* workload_key, bool launches) {
  Result<GpuSheet> sheet = load_gpu_sheet(gpu_key);
  const Result<Workload> workload = load_workload(workload_key);
  if (!sheet || !workload) {
    bench.SkipWithError(!sheet ? sheet.error().line().c_str() : workload.error().line().c_str());
    return;
  }
  VirtualClock clock;
  SimGpu gpu(*std::move(sheet), clock);
  Counting counting(workload->load);
  if (launches) gpu.observe(&counting);
  gpu.start(*workload);
  double simulated = 0;
  for (auto _ : bench) {
    clock.advance(kSampling);
    benchmark::DoNotOptimize(gpu.read(kRead));
    simulated += kSampling.value();
  }
  bench.counters["x_real_time"] = benchmark::Counter(simulated, benchmark::Counter::kIsRate);
  if (launches) {
    bench.counters["launches_per_s"] =
        benchmark::Counter(static_cast<double>(counting.count), benchmark::Counter::kIsRate);
  }
}

BENCHMARK_CAPTURE(run, h200_resnet50_50hz, "h200", "resnet50", false);
BENCHMARK_CAPTURE(run, v100_gpt2_50hz, "v100-sxm2", "gpt2", false);
BENCHMARK_CAPTURE(run, rtx3080ti_resnet50_power_capped_50hz, "rtx3080ti", "resnet50", false);
BENCHMARK_CAPTURE(run, h200_resnet50_with_launches, "h200", "resnet50", true);

}  // namespace
}  // namespace hypermile
