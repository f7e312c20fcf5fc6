// SPDX-License-Identifier: Apache-2.0
#include "evidence/trial/detected_suite.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "progress/launch_detector.h"
#include "sim/launches.h"
#include "sim/sim_gpu.h"
#include "trial/tick_reader.h"

namespace hypermile {
namespace {

// Stretches between two boundaries of training without a break.
struct Stretch {
  Instant from;
  Instant to;
  double iterations = 0;
};

class Watcher final : public JobObserver, public LaunchSink, public DetectorSink {
 public:
  Watcher(SimGpu& gpu, const Load& load, std::uint64_t seed)
      : gpu_(gpu), emitter_(load, seed), detector_(*this) {
    gpu.observe(this);
  }

  void finished(const FinishedUnit& unit) override { emitter_.emit(unit, *this); }
  void launch(double time_s, double, std::uint32_t kernel) override {
    ++launches;
    Launch one;
    one.time = gpu_.instant(time_s);
    one.kernel = kernel;
    detector_.add(one);
    detector_.analyse_if_due();
  }
  void locked(const Pattern& pattern, const Lock& lock) override {
    if (!first_lock) {
      first_lock = lock.time;
      training_ = pattern.phase;
    }
    open_ = false;
  }
  void boundary(const Boundary& boundary) override {
    if (boundary.pattern != PatternId{training_, 0}) return;
    if (!open_) {
      stretches.push_back({boundary.time, boundary.time, 0});
      open_ = true;
      return;
    }
    stretches.back().to = boundary.time;
    stretches.back().iterations += boundary.iterations;
  }
  void levels_changed(const Pattern&, Instant) override {}
  void broken(const Pattern&, Instant, Instant) override { open_ = false; }
  void idle(Instant) override {}

  std::uint64_t launches = 0;
  std::optional<Instant> first_lock;
  std::vector<Stretch> stretches;

 private:
  SimGpu& gpu_;
  LaunchEmitter emitter_;
  LaunchDetector detector_;
  std::uint32_t training_ = 0;
  bool open_ = false;
};

// How far the job had come, in whole and part iterations; at least two have begun.
double progress_at(const std::vector<Instant>& starts, Instant time) {
  const auto after = std::ranges::upper_bound(starts, time);
  // Outside, iterations go on as long as the nearest known.
  const auto next = std::clamp(after, starts.begin() + 1, starts.end() - 1);
  const Instant before = *(next - 1);
  return static_cast<double>(next - starts.begin() - 1) + (time - before) / (*next - before);
}

}  // namespace

bool Detected::wrong() const {
  // A job without a period has no iterations that could be counted rightly or wrongly.
  if (!locked || aperiodic) return false;
  return std::abs(counted - truth) > 0.02 * truth + 2 * std::max(1.0, stretches);
}

Detected detect_iterations(const GpuSheet& sheet, const Workload& workload, double seconds,
                           std::uint64_t seed) {
  VirtualClock clock;
  SimGpuOptions options;
  options.seed = seed;
  SimGpu gpu(sheet, clock, options);
  Watcher watcher(gpu, workload.load, seed);
  TickReader ticks(gpu);
  std::vector<Instant> starts;
  gpu.start(workload);
  const auto watch = [&](Instant until) {
    while (clock.now() < until) {
      clock.advance(milliseconds(20));
      for (const Tick& tick : ticks.take()) starts.push_back(tick.time);
    }
  };
  watch(clock.now() + Seconds(seconds));
  const Mhz half(sheet.constants.clocks.sm_max.value() / 2);
  gpu.apply({.sm_clock = half, .memory_clock = {}, .power_limit = {}});
  watch(clock.now() + Seconds(seconds));

  Detected result;
  result.workload = workload.key;
  result.aperiodic = workload.load.aperiodic;
  result.micro_batches = workload.load.micro_batches;
  const double iterations = std::max(1.0, gpu.iterations());
  result.iteration_s = clock.now().since_origin().value() / iterations;
  result.launches = static_cast<double>(watcher.launches) / iterations;
  result.locked = watcher.first_lock.has_value();
  if (!result.locked || starts.size() < 2) return result;
  result.first_lock_s = watcher.first_lock->since_origin().value();
  for (const Stretch& stretch : watcher.stretches) {
    if (stretch.iterations < 1) continue;
    ++result.stretches;
    result.counted += stretch.iterations;
    result.truth += progress_at(starts, stretch.to) - progress_at(starts, stretch.from);
  }
  // Micro-batches are what repeats first where there are some; that is no error.
  const double ratio = result.truth > 0 ? result.counted / result.truth : 0;
  if (ratio > (1 + result.micro_batches) / 2.0) {
    result.units_per_iteration = result.micro_batches;
    result.counted /= result.micro_batches;
  }
  // Nor are whole epochs, where an evaluation comes so soon that nothing shorter lasts.
  for (const PhaseWork& phase : workload.load.phases) {
    const auto every = static_cast<double>(phase.every);
    if (phase.every < 2 || ratio > 1.5 / every) continue;
    result.units_per_iteration = 1 / every;
    result.counted *= every;
    break;
  }
  return result;
}

}  // namespace hypermile
