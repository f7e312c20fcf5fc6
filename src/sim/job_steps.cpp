// SPDX-License-Identifier: Apache-2.0
#include "sim/job_steps.h"

#include <algorithm>
#include <cmath>

#include "sim/part_rate.h"

namespace hypermile {
namespace {

constexpr std::uint32_t kWhole = kMaxParts;  // cache slot of a whole iteration
// Short iterations run in blocks of about this length; parts run one by one only where a sensor
// could resolve them.
constexpr double kBlockSeconds = 0.010;
constexpr double kShortestPart = 0.004;
constexpr double kResolvedIteration = 0.020;
// Two-level times: relative slowdown of the slow level, and mean durations of both levels.
constexpr double kSlowLevel = 0.03;
constexpr double kSlowSeconds = 60;
constexpr double kFastSeconds = 240;
constexpr double kSmallestFactor = 0.05;

const PartRate& cached_part(SimGpuState& state, const GpuConstants& gpu, const Load& load,
                            std::uint32_t part) {
  RateCache& cache = state.cache;
  const std::uint32_t bit = 1U << part;
  if ((cache.valid & bit) == 0) {
    cache.rates[part] =
        part_rate(gpu, state.card, load.phases[cache.phase].parts[part], cache.sm_mhz,
                  cache.memory_mhz, state.leakage_w, state.effects.clock_stretching);
    cache.valid |= bit;
  }
  return cache.rates[part];
}

const PartRate& cached_whole(SimGpuState& state, const GpuConstants& gpu, const Load& load) {
  RateCache& cache = state.cache;
  const std::uint32_t bit = 1U << kWhole;
  if ((cache.valid & bit) == 0) {
    const PhaseWork& phase = load.phases[cache.phase];
    std::array<WeightedRate, kMaxParts> parts;
    for (std::uint32_t i = 0; i < phase.part_count; ++i) {
      parts[i].rate = cached_part(state, gpu, load, i);
      parts[i].runs = phase.parts[i].each_micro_batch ? load.micro_batches : 1;
    }
    cache.rates[kWhole] = blend(parts.data(), phase.part_count);
    cache.valid |= bit;
  }
  return cache.rates[kWhole];
}

void validate_cache(SimGpuState& state, double sm_mhz, double memory_mhz) {
  RateCache& cache = state.cache;
  if (cache.phase == state.job.phase && cache.sm_mhz == sm_mhz && cache.memory_mhz == memory_mhz) {
    return;
  }
  cache.phase = state.job.phase;
  cache.sm_mhz = sm_mhz;
  cache.memory_mhz = memory_mhz;
  cache.valid = 0;
}

// A factor with mean 1, averaged over `count` iterations.
double draw_length(SimRandom& random, const LengthSpread& length, double count) {
  const double narrowing = 1 / std::sqrt(count);
  switch (length.kind) {
    case LengthKind::kFixed:
      return 1;
    case LengthKind::kNormal:
      return std::max(kSmallestFactor, 1 + length.cv * narrowing * random.gaussian());
    case LengthKind::kUniform: {
      if (count > 1)
        return std::max(kSmallestFactor, 1 + length.cv * narrowing * random.gaussian());
      const double half = length.cv * std::sqrt(3.0);
      return std::max(kSmallestFactor, random.uniform(1 - half, 1 + half));
    }
    case LengthKind::kLognormal: {
      const double cv = length.cv * narrowing;
      const double variance = std::log(1 + cv * cv);
      return std::exp(std::sqrt(variance) * random.gaussian() - variance / 2);
    }
    case LengthKind::kBimodal: {
      const double shorter = 1 / (1 + length.long_share * (length.long_factor - 1));
      if (count <= 1) {
        return random.uniform() < length.long_share ? shorter * length.long_factor : shorter;
      }
      const double spread = shorter * (length.long_factor - 1) *
                            std::sqrt(length.long_share * (1 - length.long_share));
      return std::max(kSmallestFactor, 1 + spread * narrowing * random.gaussian());
    }
  }
  return 1;
}

// The slow level begins and ends at random; checked only when an iteration begins.
double level_factor(SimGpuState& state, double time_s) {
  if (state.effects.two_level_times <= 0) return 1;
  while (time_s >= state.level_until_s) {
    state.slow_level = !state.slow_level;
    const double mean = state.slow_level ? kSlowSeconds : kFastSeconds;
    state.level_until_s += -mean * std::log(1 - state.level_random.uniform());
  }
  return state.slow_level ? 1 + kSlowLevel * state.effects.two_level_times : 1;
}

double drift_factor(const Load& load, std::uint64_t iterations) {
  if (load.drift == 0) return 1;
  const double along = static_cast<double>(iterations) / static_cast<double>(load.drift_iterations);
  return 1 + load.drift * std::min(1.0, along);
}

// Number of iterations that can run before another event is due.
std::uint64_t uninterrupted(const SimGpuState& state, const Load& load) {
  const JobPosition& job = state.job;
  if (load.aperiodic) return 1;
  if (job.phase != 0) return job.phase_left;
  std::uint64_t room = job.barrier - job.train_iterations;
  if (job.limit > 0) room = std::min(room, job.limit - job.train_iterations);
  for (std::uint32_t i = 1; i < load.phase_count; ++i) {
    if (load.phases[i].every > 0) room = std::min(room, job.next_visit[i] - job.train_iterations);
  }
  return std::max<std::uint64_t>(room, 1);
}

std::uint32_t draw_phase(SimGpuState& state, const Load& load) {
  double sum = 0;
  for (std::uint32_t i = 0; i < load.phase_count; ++i) sum += load.phases[i].weight;
  double left = state.job_random.uniform() * sum;
  for (std::uint32_t i = 0; i + 1 < load.phase_count; ++i) {
    left -= load.phases[i].weight;
    if (left < 0) return i;
  }
  return load.phase_count - 1;
}

// How often the phase runs in the visit that begins now.
std::uint64_t draw_visit(SimRandom& random, const PhaseWork& phase) {
  if (phase.most_iterations <= phase.iterations) return phase.iterations;
  const auto choices = static_cast<double>(phase.most_iterations - phase.iterations + 1);
  return phase.iterations + static_cast<std::uint64_t>(random.uniform() * choices);
}

// Chooses the phase after `count` iterations of the current one.
void choose_phase(SimGpuState& state, const Load& load, std::uint64_t count) {
  JobPosition& job = state.job;
  if (load.aperiodic) {
    job.phase = draw_phase(state, load);
    return;
  }
  if (job.phase != 0) {
    job.phase_left -= std::min(job.phase_left, count);
    if (job.phase_left > 0) return;
    job.phase = 0;
  }
  for (std::uint32_t i = 1; i < load.phase_count; ++i) {
    const PhaseWork& phase = load.phases[i];
    if (phase.every == 0 || job.train_iterations < job.next_visit[i]) continue;
    job.next_visit[i] += phase.every;
    job.phase = i;
    job.phase_left = draw_visit(state.job_random, phase);
    return;
  }
}

void end_iterations(SimGpuState& state, const Load& load, std::uint64_t count, double time_s) {
  JobPosition& job = state.job;
  if (job.phase == 0 || load.aperiodic) {
    const double each = (time_s - job.iteration_start_s) / static_cast<double>(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      state.ticks.start_s[(state.ticks.count + i) % kTickRing] =
          job.iteration_start_s + static_cast<double>(i) * each;
    }
    state.ticks.count += count;
    job.train_iterations += count;
  }
  job.all_iterations += count;
  job.iteration_start_s = time_s;
  job.part = 0;
  if (job.limit > 0 && job.train_iterations >= job.limit) {
    job.running = false;
    return;
  }
  choose_phase(state, load, count);
}

}  // namespace

void begin_job(SimGpuState& state, const Load& load, std::uint64_t iterations, double time_s) {
  state.job = JobPosition();
  state.job.running = true;
  state.job.limit = iterations;
  state.job.unit_start_s = time_s;
  state.job.iteration_start_s = time_s;
  for (std::uint32_t i = 1; i < load.phase_count; ++i)
    state.job.next_visit[i] = load.phases[i].every;
  state.ticks = TickState();
  state.cache = RateCache();
  if (load.aperiodic) state.job.phase = draw_phase(state, load);
  for (std::uint32_t i = 1; i < load.phase_count; ++i) {
    if (!load.phases[i].at_start) continue;
    state.job.phase = i;
    state.job.phase_left = draw_visit(state.job_random, load.phases[i]);
  }
}

const PartRate& unit_rate(SimGpuState& state, const GpuConstants& gpu, const Load& load,
                          double sm_mhz, double memory_mhz) {
  validate_cache(state, sm_mhz, memory_mhz);
  if (state.job.block > 0) return cached_whole(state, gpu, load);
  return cached_part(state, gpu, load, state.job.part);
}

bool runs_by_parts(const Load& load, const PhaseWork& phase, Seconds iteration) {
  double units = 0;
  for (std::uint32_t i = 0; i < phase.part_count; ++i) {
    units += phase.parts[i].each_micro_batch ? load.micro_batches : 1;
  }
  const double time = iteration.value();
  return phase.part_count > 1 && time >= kResolvedIteration && time >= units * kShortestPart;
}

void begin_iteration(SimGpuState& state, const GpuConstants& gpu, const Load& load, double sm_mhz,
                     double memory_mhz) {
  JobPosition& job = state.job;
  validate_cache(state, sm_mhz, memory_mhz);
  const PhaseWork& phase = load.phases[job.phase];
  const PartRate& whole = cached_whole(state, gpu, load);
  const double time = whole.wait_s + whole.busy_s;
  job.part = 0;
  job.micro_batch = 0;
  if (runs_by_parts(load, phase, Seconds(time))) {
    job.block = 0;
  } else {
    const double fitting = std::clamp(kBlockSeconds / std::max(time, 1e-9), 1.0, 1e4);
    job.block = std::min(uninterrupted(state, load), static_cast<std::uint64_t>(fitting));
  }
  const double count = std::max(1.0, static_cast<double>(job.block));
  job.work =
      draw_length(state.job_random, phase.length, count) * drift_factor(load, job.train_iterations);
  job.factor = job.work * level_factor(state, job.iteration_start_s);
  job.iteration_s = whole.wait_s + job.factor * whole.busy_s;
}

bool at_barrier(const JobPosition& job, const Load& load) {
  return (job.phase == 0 || load.aperiodic) && job.train_iterations >= job.barrier;
}

bool finish_unit(SimGpuState& state, const Load& load, double time_s, JobObserver* observer) {
  JobPosition& job = state.job;
  if (observer != nullptr) {
    observer->finished({job.phase, job.part, job.all_iterations, job.block, job.unit_start_s,
                        time_s - job.unit_start_s, job.work});
  }
  job.done = 0;
  job.unit_start_s = time_s;
  if (job.block > 0) {
    end_iterations(state, load, job.block, time_s);
    return true;
  }
  const PhaseWork& phase = load.phases[job.phase];
  // The parts that repeat for each micro-batch come first; the others follow.
  const bool was_repeating = phase.parts[job.part].each_micro_batch;
  ++job.part;
  const bool more = job.part < phase.part_count;
  if (was_repeating && !(more && phase.parts[job.part].each_micro_batch) &&
      ++job.micro_batch < load.micro_batches) {
    job.part = 0;
    return false;
  }
  if (more) return false;
  end_iterations(state, load, 1, time_s);
  return true;
}

}  // namespace hypermile
