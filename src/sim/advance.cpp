// SPDX-License-Identifier: Apache-2.0
#include "sim/advance.h"

#include <algorithm>
#include <cmath>

#include "gpu/gpu.h"
#include "sim/job_steps.h"
#include "sim/limiter.h"
#include "sim/part_rate.h"
#include "sim/sensors.h"

namespace hypermile {
namespace {

constexpr double kZ99 = 2.3263478740408408;  // 99th percentile of the normal distribution
// SM activity of a collective that waits for other ranks: its kernel spins in a few blocks, so that
// the GPU counts as busy throughout.
constexpr double kSpinningSms = 0.05;

double draw_delay(SimRandom& random, const DelayModel& model) {
  const double median = model.median.value();
  if (median <= 0) return 0;
  const double sigma = std::log(std::max(1.0, model.p99 / model.median)) / kZ99;
  return median * std::exp(sigma * random.gaussian());
}

double memory_in_force(const SimGpuState& state, const GpuConstants& gpu) {
  return state.in_force.memory_clock.value_or(gpu.clocks.memory_default).value();
}

double unit_end(const SimGpuState& state) {
  const Segment& segment = state.segment;
  if (segment.unit_rate <= 0) return kNever;
  return segment.start_s + std::max(0.0, 1 - state.job.done) / segment.unit_rate;
}

double next_event(const SimGpuState& state) {
  double next = std::min({state.limiter.next_s, next_sensor_event(state.sensors), unit_end(state)});
  for (const PendingChange& change : state.pending) next = std::min(next, change.at_s);
  if (state.memory_stall_until_s > state.segment.start_s) {
    next = std::min(next, state.memory_stall_until_s);
  }
  return next;
}

// The integrals `span` seconds into the segment.
Totals totals_after(const SimGpuState& state, double span) {
  const Segment& segment = state.segment;
  Totals totals = state.totals;
  totals.energy_j += segment.power_w * span;
  totals.busy_s += segment.busy * span;
  totals.dram_s += segment.dram * span;
  totals.sm_s += segment.sm_active * span;
  totals.fp64_s += segment.fp64 * span;
  totals.fp32_s += segment.fp32 * span;
  totals.tensor_s += segment.tensor * span;
  return totals;
}

// Ends the current segment at `time_s`.
void settle(SimGpuState& state, const GpuConstants& gpu, double time_s) {
  const double span = time_s - state.segment.start_s;
  if (span <= 0) return;
  limiter_sees(state, gpu, span);
  state.totals = totals_after(state, span);
  state.job.done += state.segment.unit_rate * span;
  state.segment.start_s = time_s;
}

void rest(SimGpuState& state, const GpuConstants& gpu) {
  const double start = state.segment.start_s;
  state.segment = Segment();
  state.segment.start_s = start;
  state.segment.power_w = gpu.power.idle.value();
  state.segment.sm_reported_mhz = state.segment.sm_true_mhz = gpu.clocks.sm_idle.value();
}

// The rates while the memory clock changes or other ranks are awaited: no progress.
void stand_still(Segment& segment, const PartRate& rate, double leakage_w, bool spinning) {
  segment.unit_rate = segment.dram = segment.fp64 = segment.fp32 = segment.tensor = 0;
  segment.estimate_w = 0;
  segment.busy = spinning ? 1 : 0;
  segment.sm_active = spinning ? kSpinningSms : 0;
  segment.power_w = rate.wait_w + leakage_w * rate.wait_v2;
}

// Sets the rates of the new segment.
void begin_segment(SimGpuState& state, const GpuConstants& gpu, const Load* load) {
  if (!state.job.running || load == nullptr) {
    rest(state, gpu);
    return;
  }
  const double sm = sm_in_force(state, gpu);
  const PartRate& rate = unit_rate(state, gpu, *load, sm, memory_in_force(state, gpu));
  Segment& segment = state.segment;
  segment.sm_reported_mhz = sm;
  segment.sm_true_mhz = rate.sm_true_mhz;
  if (state.memory_stall_until_s > segment.start_s || state.job.waiting) {
    stand_still(segment, rate, state.leakage_w, state.job.waiting);
    return;
  }
  const double busy_s = rate.busy_s * state.job.factor;
  const double time = std::max(rate.wait_s + busy_s, 1e-9);
  const double busy = busy_s / time;
  const double units = std::max(1.0, static_cast<double>(state.job.block));
  segment.unit_rate = 1 / (time * units);
  segment.power_w = (1 - busy) * (rate.wait_w + state.leakage_w * rate.wait_v2) +
                    busy * (rate.busy_w + state.leakage_w * rate.busy_v2);
  segment.estimate_w = busy * rate.estimate_w;
  segment.busy = segment.sm_active = busy;
  segment.dram = busy * rate.dram;
  segment.fp64 = busy * rate.fp64;
  segment.fp32 = busy * rate.fp32;
  segment.tensor = busy * rate.tensor;
}

void act(SimGpuState& state, const GpuConstants& gpu, Knob knob) {
  PendingChange& change = state.pending[static_cast<std::size_t>(knob)];
  const double old_ceiling = sm_ceiling(state, gpu);
  const double old_memory = memory_in_force(state, gpu);
  if (change.value) {
    state.in_force.set(knob, *change.value);
  } else {
    state.in_force.clear(knob);
  }
  change = PendingChange();
  if (knob == Knob::kSmClock) limiter_keeps_clock(state, old_ceiling, sm_ceiling(state, gpu));
  if (knob == Knob::kMemoryClock && memory_in_force(state, gpu) != old_memory) {
    state.memory_stall_until_s = state.segment.start_s + gpu.switching.memory_stall.value();
  }
}

void begin_next_iteration(SimGpuState& state, const GpuConstants& gpu, const Load& load) {
  if (!state.job.running) return;
  state.job.waiting = at_barrier(state.job, load);
  if (state.job.waiting) return;
  begin_iteration(state, gpu, load, sm_in_force(state, gpu), memory_in_force(state, gpu));
}

// Handles everything that is due at segment.start_s.
void handle(SimGpuState& state, const GpuConstants& gpu, const Load* load, bool unit_over,
            JobObserver* observer) {
  const double now = state.segment.start_s;
  if (unit_over && finish_unit(state, *load, now, observer)) {
    begin_next_iteration(state, gpu, *load);
  }
  for (const Knob knob : kAllKnobs) {
    if (state.pending[static_cast<std::size_t>(knob)].at_s <= now) act(state, gpu, knob);
  }
  if (now >= state.limiter.next_s) limiter_decides(state, gpu);
  if (now >= next_sensor_event(state.sensors)) refresh_sensors(state, gpu);
}

}  // namespace

SimGpuState make_sim_gpu(const GpuConstants& gpu, std::uint64_t seed, const Effects& effects) {
  SimGpuState state;
  state.random.state = seed;
  state.job_random.state = seed ^ 0x6A6F62;      // any two constants
  state.level_random.state = seed ^ 0x6C65766C;  // that differ
  state.effects = effects;
  const auto factor = [&](double deviation) {
    return std::max(0.5, 1 + deviation * state.random.gaussian());
  };
  state.card.core = factor(gpu.spread.core);
  state.card.leakage = factor(gpu.spread.leakage);
  state.card.cooling = factor(gpu.spread.cooling);
  state.card.sensor_gain = factor(gpu.sensors.gain_deviation);
  state.card.sensor_offset = gpu.sensors.offset_deviation * state.random.gaussian();
  state.die_c = state.sink_c = gpu.thermal.ambient.value();
  state.leakage_w = leakage_watts(gpu.power, state.card, state.die_c);
  state.limiter.next_s = gpu.limiter.period.value();
  // Begins as slow, so that the first change of level makes the job fast.
  state.slow_level = true;
  begin_sensors(state, gpu);
  rest(state, gpu);
  return state;
}

namespace {

// Processes the next event up to `target`; false when there is none.
bool step(SimGpuState& state, const GpuConstants& gpu, const Load* load, double target,
          JobObserver* observer) {
  const double end = unit_end(state);
  const double next = next_event(state);
  if (!(next <= target)) return false;
  settle(state, gpu, next);
  handle(state, gpu, load, end <= next, observer);
  begin_segment(state, gpu, load);
  return true;
}

}  // namespace

void advance(SimGpuState& state, const GpuConstants& gpu, const Load* load, Seconds until,
             JobObserver* observer) {
  while (step(state, gpu, load, until.value(), observer)) {
  }
  state.now_s = std::max(state.now_s, until.value());
}

void advance_to_barrier(SimGpuState& state, const GpuConstants& gpu, const Load* load,
                        Seconds until, JobObserver* observer) {
  while (!state.job.waiting) {
    if (!step(state, gpu, load, until.value(), observer)) {
      state.now_s = std::max(state.now_s, until.value());
      return;
    }
    state.now_s = std::max(state.now_s, state.segment.start_s);
  }
}

void set_barrier(SimGpuState& state, const GpuConstants& gpu, const Load& load,
                 std::uint64_t barrier) {
  JobPosition& job = state.job;
  job.barrier = barrier;
  if (!job.running || !job.waiting || at_barrier(job, load)) return;
  settle(state, gpu, state.now_s);
  job.waiting = false;
  job.unit_start_s = job.iteration_start_s = state.now_s;
  begin_next_iteration(state, gpu, load);
  begin_segment(state, gpu, &load);
}

void start_job(SimGpuState& state, const GpuConstants& gpu, const Load& load,
               std::uint64_t iterations, std::uint64_t barrier) {
  settle(state, gpu, state.now_s);
  begin_job(state, load, iterations, state.now_s);
  state.job.barrier = barrier;
  begin_next_iteration(state, gpu, load);
  begin_segment(state, gpu, &load);
}

void stop_job(SimGpuState& state, const GpuConstants& gpu) {
  settle(state, gpu, state.now_s);
  state.job.running = false;
  begin_segment(state, gpu, nullptr);
}

Seconds request(SimGpuState& state, const GpuConstants& gpu, Knob knob,
                std::optional<double> value) {
  if (value) {
    state.requested.set(knob, *value);
  } else {
    state.requested.clear(knob);
  }
  const Seconds blocked(draw_delay(state.random, gpu.switching.call));
  const DelayModel& model = knob == Knob::kMemoryClock ? gpu.switching.memory : gpu.switching.sm;
  state.pending[static_cast<std::size_t>(knob)] = {state.now_s + draw_delay(state.random, model),
                                                   value};
  return blocked;
}

namespace {

double iterations_at(const SimGpuState& state, const Load* load, double span) {
  const JobPosition& job = state.job;
  const double whole = static_cast<double>(job.train_iterations);
  if (load == nullptr || !job.running || job.waiting || (job.phase != 0 && !load->aperiodic))
    return whole;
  if (job.block > 0) {
    const double done = std::min(1.0, job.done + state.segment.unit_rate * span);
    return whole + done * static_cast<double>(job.block);
  }
  // Parts differ in length, so the fraction is by time.
  const double share = (state.now_s - job.iteration_start_s) / std::max(job.iteration_s, 1e-9);
  return whole + std::clamp(share, 0.0, 0.999);
}

std::uint64_t reasons_of(const SimGpuState& state) {
  if (!state.job.running) return EventReasons::kIdle;
  std::uint64_t reasons = 0;
  if (state.in_force.sm_clock && state.limiter.trim_mhz <= 0) {
    reasons |= EventReasons::kRequestedClocks;
  }
  if (state.limiter.power_capped) reasons |= EventReasons::kSoftwarePowerCap;
  if (state.limiter.thermal) reasons |= EventReasons::kSoftwareThermal;
  return reasons;
}

}  // namespace

SimView view(const SimGpuState& state, const GpuConstants& gpu, const Load* load) {
  const double span = std::max(0.0, state.now_s - state.segment.start_s);
  SimView now;
  now.iterations = iterations_at(state, load, span);
  now.totals = totals_after(state, span);
  now.sm_reported = Mhz(state.segment.sm_reported_mhz);
  now.sm_true = Mhz(state.segment.sm_true_mhz);
  now.memory = state.job.running ? Mhz(memory_in_force(state, gpu)) : gpu.clocks.memory_idle;
  now.power = Watts(state.segment.power_w);
  now.limit = Watts(limit_in_force(state, gpu));
  now.die = Celsius(state.die_c);
  now.reasons = reasons_of(state);
  return now;
}

}  // namespace hypermile
