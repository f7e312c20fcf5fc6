// SPDX-License-Identifier: Apache-2.0
#include "evidence/trial/detected_suite.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "evidence/trial/watched_job.h"

namespace hypermile {
namespace {

// Training without a break, from one boundary to another.
struct Stretch {
  Instant from;
  Instant to;
  double iterations = 0;
};

// Counts the iterations of training.
class Counter final : public WatchedJob::Sink {
 public:
  void boundary(const Boundary& boundary, bool fresh) override {
    if (boundary.pattern != PatternId{training_, 0}) return;
    if (fresh || stretches.empty()) {
      stretches.push_back({boundary.time, boundary.time, 0});
      return;
    }
    stretches.back().to = boundary.time;
    stretches.back().iterations += boundary.iterations;
  }
  void changed(const ProcessProgress& process, const ProgressChange& change) override {
    launches = process.launches();
    if (change.state != ProgressState::kLocked || first_lock) return;
    first_lock = change.time;
    training_ = change.pattern->phase;
  }
  void reading(const SamplerReading&) override {}

  std::uint64_t launches = 0;  // as of the last change; the end of the job is one
  std::optional<Instant> first_lock;
  std::vector<Stretch> stretches;

 private:
  std::uint32_t training_ = 0;
};

// The true starts of iterations, which the card keeps for a while.
void take_starts(SimGpu& card, std::vector<Instant>& starts) {
  const TickState& ticks = card.state().ticks;
  for (std::uint64_t i = starts.size(); i < ticks.count; ++i) {
    starts.push_back(card.instant(ticks.start_s[i % kTickRing]));
  }
}

// How far the job had come at `time`, in whole and part iterations; at least two have begun.
double progress_at(const std::vector<Instant>& starts, Instant time) {
  const auto after = std::ranges::upper_bound(starts, time);
  // Before the first and after the last start, iterations take as long as the nearest known one.
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

Result<Detected> detect_iterations(const GpuSheet& sheet, const Workload& workload, double seconds,
                                   std::uint64_t seed) {
  SimulatedJob job;
  job.sheet = sheet;
  job.workload = workload;
  job.seed = seed;
  job.progress = ProgressKind::kLaunches;
  Counter counter;
  ASSIGN_OR_RETURN(const auto watched, WatchedJob::start(job, counter));
  SimGpu& card = watched->card();
  std::vector<Instant> starts;
  const auto watch = [&](Instant until) {
    while (watched->now() < until) {
      watched->step();
      take_starts(card, starts);
    }
  };
  watch(watched->now() + Seconds(seconds));
  const Mhz half(sheet.constants.clocks.sm_max.value() / 2);
  RETURN_IF_ERROR(all_applied(card.apply({.sm_clock = half})));
  watch(watched->now() + Seconds(seconds));
  const double iterations = std::max(1.0, card.iterations());
  const Seconds lasted = watched->now().since_origin();
  watched->finish();

  Detected result;
  result.workload = workload.key;
  result.aperiodic = workload.load.aperiodic;
  result.micro_batches = workload.load.micro_batches;
  result.iteration_s = lasted.value() / iterations;
  result.launches = static_cast<double>(counter.launches) / iterations;
  result.locked = counter.first_lock.has_value();
  if (!result.locked || starts.size() < 2) return result;
  result.first_lock_s = counter.first_lock->since_origin().value();
  for (const Stretch& stretch : counter.stretches) {
    if (stretch.iterations < 1) continue;
    ++result.stretches;
    result.counted += stretch.iterations;
    result.truth += progress_at(starts, stretch.to) - progress_at(starts, stretch.from);
  }
  // Micro-batches repeat first, where there are some. To count them is no error.
  const double ratio = result.truth > 0 ? result.counted / result.truth : 0;
  if (ratio > (1 + result.micro_batches) / 2.0) {
    result.units_per_iteration = result.micro_batches;
    result.counted /= result.micro_batches;
  }
  // Nor is it one to count whole epochs, where an evaluation comes so soon that nothing shorter
  // lasts.
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
