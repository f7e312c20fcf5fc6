// SPDX-License-Identifier: Apache-2.0
#include "sim/steady_state.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "gpu/setting_grid.h"
#include "sim/part_rate.h"

namespace hypermile {
namespace {

// In an iteration this many times longer than the limiter's averaging, each part has its own clock.
constexpr double kLongAgainstLimiter = 8;

struct Point {
  double time_s = 0, energy_j = 0, clock_s = 0;  // clock_s: clock × time
  bool capped = false;
};

class Steady {
 public:
  Steady(const GpuConstants& gpu, const Load& load, const Setting& setting, const CardTraits& card,
         const Effects& effects)
      : gpu_(gpu), load_(load), card_(card), effects_(effects) {
    memory_ = setting.memory_clock.value_or(gpu.clocks.memory_default).value();
    limit_ = setting.power_limit.value_or(gpu.limit.normal).value() * gpu.limiter.target;
    locked_ = setting.sm_clock.has_value();
    ceiling_ = setting.sm_clock.value_or(gpu.clocks.sm_boost).value();
    // The power at which the die settles at its slowdown temperature.
    coolable_ = (gpu.thermal.slowdown - gpu.thermal.ambient).value() / degrees_per_watt();
  }

  SteadyState solve() {
    double die = 60;
    Point point;
    // Temperature and leakage depend on each other; each round reduces the error tenfold.
    for (int round = 0; round < 12; ++round) {
      leakage_ = leakage_watts(gpu_.power, card_, die);
      top_ = ceiling_at(die);
      point = job();
      const double settled =
          gpu_.thermal.ambient.value() + degrees_per_watt() * point.energy_j / point.time_s;
      const bool done = std::abs(settled - die) < 0.01;
      die = settled;
      if (done || gpu_.power.leakage <= Watts(0)) break;
    }
    return {Seconds(point.time_s), Watts(point.energy_j / point.time_s),
            Mhz(point.clock_s / point.time_s), point.capped, Celsius(die)};
  }

 private:
  double degrees_per_watt() const {
    const double shares =
        1 - gpu_.thermal.sink_share + gpu_.thermal.sink_share * effects_.thermal_memory;
    return gpu_.thermal.degrees_per_watt * card_.cooling * shares;
  }

  double ceiling_at(double die) const {
    const ClockRanges& clocks = gpu_.clocks;
    if (locked_ || clocks.boost_degrees_per_step <= 0 || die <= 50) return ceiling_;
    const double steps = (die - 50) / clocks.boost_degrees_per_step;
    return std::max(clocks.sm_min.value(), ceiling_ - std::floor(steps) * clocks.sm_step.value());
  }

  // One training iteration, or one drawn iteration of an aperiodic job.
  Point job() const {
    Point sum;
    double weights = 0;
    for (std::uint32_t i = 0; i < load_.phase_count; ++i) weights += load_.phases[i].weight;
    for (std::uint32_t i = 0; i < load_.phase_count; ++i) {
      const PhaseWork& phase = load_.phases[i];
      double runs = i == 0 ? 1 : 0;
      if (load_.aperiodic) {
        runs = phase.weight / weights;
      } else if (phase.every > 0) {
        const std::uint64_t most = std::max(phase.iterations, phase.most_iterations);
        const double visit =
            (static_cast<double>(phase.iterations) + static_cast<double>(most)) / 2;
        runs = visit / static_cast<double>(phase.every);
      }
      if (runs <= 0) continue;
      const Point point = iteration(phase);
      sum.time_s += runs * point.time_s;
      sum.energy_j += runs * point.energy_j;
      sum.clock_s += runs * point.clock_s;
      sum.capped = sum.capped || point.capped;
    }
    return sum;
  }

  Point iteration(const PhaseWork& phase) const {
    const PartRate whole = rate_of(phase, 0, phase.part_count, top_);
    const double time = whole.wait_s + whole.busy_s;
    if (time < kLongAgainstLimiter * gpu_.limiter.averaging.value()) {
      return held(phase, 0, phase.part_count);
    }
    Point sum;
    for (std::uint32_t i = 0; i < phase.part_count; ++i) {
      const Point part = held(phase, i, i + 1);
      sum.time_s += part.time_s;
      sum.energy_j += part.energy_j;
      sum.clock_s += part.clock_s;
      sum.capped = sum.capped || part.capped;
    }
    return sum;
  }

  // Parts [from, to) of an iteration at the highest clock that the limiter permits.
  Point held(const PhaseWork& phase, std::uint32_t from, std::uint32_t to) const {
    double clock = top_;
    bool capped = false;
    if (too_much(phase, from, to, clock)) {
      capped = true;
      double low = gpu_.clocks.sm_min.value();
      while (clock - low > 0.05) {
        const double middle = (low + clock) / 2;
        (too_much(phase, from, to, middle) ? clock : low) = middle;
      }
    }
    const PartRate rate = rate_of(phase, from, to, clock);
    Point point;
    point.time_s = rate.wait_s + rate.busy_s;
    point.energy_j = point.time_s * mean_power(rate, 1, leakage_);
    point.clock_s = point.time_s * clock;
    point.capped = capped;
    return point;
  }

  // True where power at `clock` exceeds what the limiter or the cooling permits.
  bool too_much(const PhaseWork& phase, std::uint32_t from, std::uint32_t to, double clock) const {
    const PartRate rate = rate_of(phase, from, to, clock);
    const double busy = rate.busy_s / std::max(1e-12, rate.wait_s + rate.busy_s);
    const double power = mean_power(rate, 1, leakage_);
    return std::max(power, busy * rate.estimate_w) > limit_ || power > coolable_;
  }

  PartRate rate_of(const PhaseWork& phase, std::uint32_t from, std::uint32_t to,
                   double clock) const {
    std::array<WeightedRate, kMaxParts> parts;
    for (std::uint32_t i = from; i < to; ++i) {
      parts[i - from].rate = part_rate(gpu_, card_, phase.parts[i], clock, memory_, leakage_,
                                       effects_.clock_stretching);
      parts[i - from].runs = phase.parts[i].each_micro_batch ? load_.micro_batches : 1;
    }
    return blend(parts.data(), to - from);
  }

  const GpuConstants& gpu_;
  const Load& load_;
  const CardTraits& card_;
  const Effects& effects_;
  double memory_ = 0, limit_ = 0, coolable_ = 0, ceiling_ = 0, top_ = 0, leakage_ = 0;
  bool locked_ = false;
};

}  // namespace

SteadyState steady_state(const GpuConstants& gpu, const Load& load, const Setting& setting,
                         const CardTraits& card, const Effects& effects) {
  return Steady(gpu, load, setting, card, effects).solve();
}

Curve true_curve(const GpuSheet& sheet, const Workload& workload, const std::vector<Knob>& knobs,
                 const CardTraits& card, const Effects& effects) {
  const GpuConstants& gpu = sheet.constants;
  const SteadyState normal = steady_state(gpu, workload.load, {}, card, effects);
  Curve curve;
  curve.key = {sheet.name, workload.key, "train", ""};
  curve.default_values = {normal.sm_clock, gpu.clocks.memory_default, gpu.limit.normal};
  const std::vector<Knob> swept = knobs.empty() ? std::vector{Knob::kSmClock} : knobs;
  for (const Setting& setting : setting_grid(capabilities_of(sheet), curve.default_values, swept)) {
    const SteadyState state = steady_state(gpu, workload.load, setting, card, effects);
    curve.points.push_back({setting, state.time, state.power, state.sm_clock, 1});
  }
  return curve;
}

}  // namespace hypermile
