// SPDX-License-Identifier: Apache-2.0
#include "sim/limiter.h"

#include <algorithm>
#include <cmath>

#include "sim/part_rate.h"

namespace hypermile {
namespace {

constexpr double kBoostFullTemperature = 50;  // °C; above this the boost clock falls
// The limiter's errors only matter near the limit; below this share of it none are drawn.
constexpr double kNearLimit = 0.8;

void renew_heat(SimGpuState& state, const GpuConstants& gpu) {
  const ThermalModel& thermal = gpu.thermal;
  LimiterState& limiter = state.limiter;
  const double now = state.segment.start_s;
  const double span = now - limiter.before_s;
  if (span <= 0) return;
  const double power = (state.totals.energy_j - limiter.before_j) / span;
  limiter.before_s = now;
  limiter.before_j = state.totals.energy_j;
  const double rise = thermal.degrees_per_watt * state.card.cooling * power;
  const double slow = thermal.sink_share * state.effects.thermal_memory;
  const double sink = thermal.ambient.value() + rise * slow;
  state.sink_c += (sink - state.sink_c) * span / (thermal.sink_time.value() + span);
  const double die = state.sink_c + rise * (1 - thermal.sink_share);
  state.die_c += (die - state.die_c) * span / (thermal.die_time.value() + span);
  state.leakage_w = leakage_watts(gpu.power, state.card, state.die_c);
}

// Power of one clock step as the limiter estimates it: it knows the voltage curve, and takes three
// quarters of the power to follow the clock.
double watts_per_step(const GpuConstants& gpu, double clock, Watts seen) {
  const double relative = gpu.clocks.sm_step.value() / clock;
  const double v = voltage(gpu.power, clock);
  const double steeper =
      clock > gpu.power.voltage_knee.value() ? 2 * gpu.power.voltage_slope * clock / v : 0;
  return std::max(0.5, 0.75 * (1 + steeper) * relative * seen.value());
}

}  // namespace

double sm_ceiling(const SimGpuState& state, const GpuConstants& gpu) {
  if (state.in_force.sm_clock) return state.in_force.sm_clock->value();
  const ClockRanges& clocks = gpu.clocks;
  if (clocks.boost_degrees_per_step <= 0 || state.die_c <= kBoostFullTemperature) {
    return clocks.sm_boost.value();
  }
  const double steps =
      std::floor((state.die_c - kBoostFullTemperature) / clocks.boost_degrees_per_step);
  return std::max(clocks.sm_min.value(), clocks.sm_boost.value() - steps * clocks.sm_step.value());
}

double sm_in_force(const SimGpuState& state, const GpuConstants& gpu) {
  return std::max(gpu.clocks.sm_min.value(), sm_ceiling(state, gpu) - state.limiter.trim_mhz);
}

double limit_in_force(const SimGpuState& state, const GpuConstants& gpu) {
  return state.in_force.power_limit.value_or(gpu.limit.normal).value();
}

void limiter_sees(SimGpuState& state, const GpuConstants& gpu, double span_s) {
  LimiterState& limiter = state.limiter;
  const double keep = std::exp(-span_s / gpu.limiter.averaging.value());
  limiter.seen_w = state.segment.power_w + (limiter.seen_w - state.segment.power_w) * keep;
  limiter.seen_estimate_w =
      state.segment.estimate_w + (limiter.seen_estimate_w - state.segment.estimate_w) * keep;
}

double limiter_steps(const GpuConstants& gpu, double clock, Watts limit, Watts seen, Watts judged) {
  const double per_step = watts_per_step(gpu, clock, seen);
  const double excess = judged.value() - limit.value() * gpu.limiter.target;
  if (excess > 0) return std::ceil(gpu.limiter.gain * excess / per_step);
  // Releases only what it will not have to take back immediately.
  const double free = -excess / per_step - 1;
  return free > 0 ? -std::max(1.0, std::floor(gpu.limiter.gain * free)) : 0;
}

bool limiter_decides(SimGpuState& state, const GpuConstants& gpu) {
  LimiterState& limiter = state.limiter;
  limiter.next_s += gpu.limiter.period.value();
  const double before = sm_in_force(state, gpu);
  renew_heat(state, gpu);
  const double limit = limit_in_force(state, gpu);
  const double target = limit * gpu.limiter.target;
  double seen = std::max(limiter.seen_w, limiter.seen_estimate_w);
  const bool near = seen > kNearLimit * target;
  if (limiter.trim_mhz <= 0 && !near && state.die_c < gpu.thermal.slowdown.value()) {
    limiter.power_capped = limiter.thermal = false;
    return sm_in_force(state, gpu) != before;
  }
  const double hunting = gpu.limiter.hunting * state.effects.limiter_hunting;
  if (hunting > 0) seen += hunting * limit * state.random.gaussian();
  const double step = gpu.clocks.sm_step.value();
  double steps = limiter_steps(gpu, before, Watts(limit), Watts(limiter.seen_w), Watts(seen));
  limiter.thermal = state.die_c >= gpu.thermal.slowdown.value();
  if (limiter.thermal) steps = std::max(steps, 1.0);
  const double room = sm_ceiling(state, gpu) - gpu.clocks.sm_min.value();
  limiter.trim_mhz = std::clamp(limiter.trim_mhz + steps * step, 0.0, std::max(0.0, room));
  limiter.power_capped = limiter.trim_mhz > 0 && !limiter.thermal;
  return sm_in_force(state, gpu) != before;
}

void limiter_keeps_clock(SimGpuState& state, double old_ceiling, double new_ceiling) {
  const double clock = old_ceiling - state.limiter.trim_mhz;
  state.limiter.trim_mhz = std::max(0.0, new_ceiling - clock);
  // A higher ceiling lifts the clock only where it was not trimmed below the old one.
  if (new_ceiling > old_ceiling && clock >= old_ceiling) state.limiter.trim_mhz = 0;
}

}  // namespace hypermile
