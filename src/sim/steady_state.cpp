// SPDX-License-Identifier: Apache-2.0
#include "sim/steady_state.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "gpu/setting_grid.h"
#include "sim/job_steps.h"
#include "sim/limiter.h"
#include "sim/part_rate.h"
#include "sim/sim_random.h"

namespace hypermile {
namespace {

// A limiter that acts is followed for so many of its periods, after the first of which it has
// settled: enough for a mean clock that is known to some hundredths of a percent. The seed is the
// same for every setting, so that settings compare.
constexpr int kFollowed = 4000;
constexpr int kSettling = 100;
constexpr std::uint64_t kLimiterSeed = 1;
// Standard deviations of its hunting by which power must stay below the limit for the limiter never
// to act.
constexpr double kNeverReached = 4;
constexpr std::uint32_t kWhole = kMaxParts;  // stands for all parts of an iteration at once

struct Point {
  double time_s = 0, energy_j = 0, clock_s = 0;  // clock_s: clock × time
  bool capped = false;

  void add(double runs, const Point& other) {
    time_s += runs * other.time_s;
    energy_j += runs * other.energy_j;
    clock_s += runs * other.clock_s;
    capped = capped || other.capped;
  }
};

// The limiter of a card whose heat has settled, from some periods before time 0 on.
class FollowedLimiter {
 public:
  FollowedLimiter(const GpuConstants& gpu, double limit_w, double hunting_w, double most_mhz)
      : gpu_(gpu),
        limit_w_(limit_w),
        hunting_w_(hunting_w),
        most_mhz_(most_mhz),
        now_(-kSettling * gpu.limiter.period.value()),
        next_(now_ + gpu.limiter.period.value()) {}

  double now() const { return now_; }
  double clock() const { return most_mhz_ - trim_mhz_; }

  // Runs at this rate for `span` seconds or until the limiter decides; returns what has passed.
  double pass(const PartRate& rate, double power_w, double span) {
    const double passed = std::min(span, next_ - now_);
    const double estimate_w = rate.busy_s / (rate.wait_s + rate.busy_s) * rate.estimate_w;
    const double keep = std::exp(-passed / gpu_.limiter.averaging.value());
    seen_w_ = power_w + (seen_w_ - power_w) * keep;
    seen_estimate_w_ = estimate_w + (seen_estimate_w_ - estimate_w) * keep;
    now_ += passed;
    if (now_ >= next_) decide();
    return passed;
  }

 private:
  void decide() {
    next_ += gpu_.limiter.period.value();
    const Watts judged(std::max(seen_w_, seen_estimate_w_) + hunting_w_ * random_.gaussian());
    const double steps = limiter_steps(gpu_, clock(), Watts(limit_w_), Watts(seen_w_), judged);
    const double room = std::max(0.0, most_mhz_ - gpu_.clocks.sm_min.value());
    trim_mhz_ = std::clamp(trim_mhz_ + steps * gpu_.clocks.sm_step.value(), 0.0, room);
  }

  const GpuConstants& gpu_;
  double limit_w_, hunting_w_, most_mhz_;
  double now_, next_;
  double trim_mhz_ = 0, seen_w_ = 0, seen_estimate_w_ = 0;
  SimRandom random_{kLimiterSeed};
};

class Steady {
 public:
  Steady(const GpuConstants& gpu, const Load& load, const Setting& setting, const CardTraits& card,
         const Effects& effects)
      : gpu_(gpu), load_(load), card_(card), effects_(effects) {
    memory_ = setting.memory_clock.value_or(gpu.clocks.memory_default).value();
    limit_ = setting.power_limit.value_or(gpu.limit.normal).value();
    target_ = limit_ * gpu.limiter.target;
    hunting_ = limit_ * gpu.limiter.hunting * effects.limiter_hunting;
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
      sum.add(runs, iteration(phase));
    }
    return sum;
  }

  // At the highest clocks that cooling and limiter permit.
  Point iteration(const PhaseWork& phase) const {
    const double cool = coolest(phase);
    const PartRate whole = whole_rate(phase, cool);
    const std::vector<std::uint32_t> units = units_of(phase, Seconds(whole.wait_s + whole.busy_s));
    for (const std::uint32_t unit : units) {
      const PartRate rate = unit == kWhole ? whole : rate_of(phase.parts[unit], cool);
      if (judged(rate) > target_ - kNeverReached * hunting_) return limited(phase, units, cool);
    }
    return at(whole, cool, cool < top_);
  }

  // What runs at one rate each, in order, as in the simulated card: parts, or the whole.
  std::vector<std::uint32_t> units_of(const PhaseWork& phase, Seconds time) const {
    if (!runs_by_parts(load_, phase, time)) return {kWhole};
    std::vector<std::uint32_t> repeating, units;
    for (std::uint32_t i = 0; i < phase.part_count; ++i) {
      if (phase.parts[i].each_micro_batch) repeating.push_back(i);
    }
    for (std::uint32_t batch = 0; batch < load_.micro_batches; ++batch) {
      units.insert(units.end(), repeating.begin(), repeating.end());
    }
    for (std::uint32_t i = 0; i < phase.part_count; ++i) {
      if (!phase.parts[i].each_micro_batch) units.push_back(i);
    }
    return units;
  }

  Point at(const PartRate& rate, double clock, bool capped) const {
    Point point;
    point.time_s = rate.wait_s + rate.busy_s;
    point.energy_j = point.time_s * mean_power(rate, 1, leakage_);
    point.clock_s = point.time_s * clock;
    point.capped = capped;
    return point;
  }

  // The power that the limiter sees.
  double judged(const PartRate& rate) const {
    const double busy = rate.busy_s / std::max(1e-12, rate.wait_s + rate.busy_s);
    return std::max(mean_power(rate, 1, leakage_), busy * rate.estimate_w);
  }

  // The highest clock at which the die stays below its slowdown temperature.
  double coolest(const PhaseWork& phase) const {
    const auto fits = [&](double clock) {
      return mean_power(whole_rate(phase, clock), 1, leakage_) <= coolable_;
    };
    if (fits(top_)) return top_;
    double low = gpu_.clocks.sm_min.value();
    double high = top_;
    while (high - low > 0.05) {
      const double middle = (low + high) / 2;
      (fits(middle) ? low : high) = middle;
    }
    return low;
  }

  // At the limit. A limiter that errs about the power takes back at once what it released too much,
  // and releases late: the mean clock lies below the one that the limit would permit. So its own
  // steps are followed, through one iteration after the other.
  Point limited(const PhaseWork& phase, std::span<const std::uint32_t> units, double most) const {
    FollowedLimiter limiter(gpu_, limit_, hunting_, most);
    std::map<std::pair<double, std::uint32_t>, PartRate> rates;
    Point sum;
    double iterations = 0;
    while (limiter.now() < kFollowed * gpu_.limiter.period.value()) {
      const bool counts = limiter.now() >= 0;
      for (const std::uint32_t unit : units) {
        double left = 1;
        while (left > 0) {
          const double clock = limiter.clock();
          const auto [known, missing] = rates.try_emplace({clock, unit});
          PartRate& rate = known->second;
          if (missing) {
            rate = unit == kWhole ? whole_rate(phase, clock) : rate_of(phase.parts[unit], clock);
          }
          const Point whole = at(rate, clock, false);
          const double passed =
              limiter.pass(rate, whole.energy_j / whole.time_s, left * whole.time_s);
          const double done = std::min(left, passed / whole.time_s);
          left = left * whole.time_s > passed ? left - done : 0;
          if (counts) sum.add(done, whole);
        }
      }
      iterations += counts ? 1 : 0;
    }
    sum.capped = sum.clock_s < most * sum.time_s;
    sum.time_s /= iterations;
    sum.energy_j /= iterations;
    sum.clock_s /= iterations;
    return sum;
  }

  PartRate rate_of(const PartWork& part, double clock) const {
    return part_rate(gpu_, card_, part, clock, memory_, leakage_, effects_.clock_stretching);
  }

  PartRate whole_rate(const PhaseWork& phase, double clock) const {
    std::array<WeightedRate, kMaxParts> parts;
    for (std::uint32_t i = 0; i < phase.part_count; ++i) {
      parts[i].rate = rate_of(phase.parts[i], clock);
      parts[i].runs = phase.parts[i].each_micro_batch ? load_.micro_batches : 1;
    }
    return blend(parts.data(), phase.part_count);
  }

  const GpuConstants& gpu_;
  const Load& load_;
  const CardTraits& card_;
  const Effects& effects_;
  double memory_ = 0, limit_ = 0, target_ = 0, hunting_ = 0, coolable_ = 0, ceiling_ = 0, top_ = 0,
         leakage_ = 0;
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
