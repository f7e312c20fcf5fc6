// SPDX-License-Identifier: Apache-2.0
#include "sim/replay_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hypermile {
namespace {

constexpr double kNoiseIterations = 30;
// Noise is drawn once per iteration, but at most this often.
constexpr Seconds kShortestSegment = milliseconds(20);
constexpr std::size_t kReplayedHistory = 120;
constexpr double kReached = 0.98;

template <class Value, class Take>
std::vector<Value> distinct_descending(const Curve& curve,
                                       const std::optional<Value>& default_value, Take take) {
  std::vector<Value> values;
  if (default_value) values.push_back(*default_value);
  for (const CurvePoint& point : curve.points) {
    if (const auto& value = take(point.setting)) values.push_back(*value);
  }
  std::ranges::sort(values, std::greater<>());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

Capabilities capabilities_of(const Curve& curve) {
  Capabilities capabilities;
  const Setting& defaults = curve.default_values;
  const auto has = [&](Knob knob) {
    return std::ranges::any_of(curve.points,
                               [&](const CurvePoint& point) { return point.setting.has(knob); });
  };
  capabilities.sm_clocks =
      distinct_descending(curve, defaults.sm_clock, [](const Setting& s) { return s.sm_clock; });
  capabilities.memory_clocks = distinct_descending(curve, defaults.memory_clock,
                                                   [](const Setting& s) { return s.memory_clock; });
  const std::vector<Watts> limits = distinct_descending(
      curve, defaults.power_limit, [](const Setting& s) { return s.power_limit; });
  if (!limits.empty()) capabilities.power_limit_range = Range{limits.back(), limits.front()};
  capabilities.default_power_limit = defaults.power_limit;
  capabilities.current_power_limit = defaults.power_limit;
  capabilities.sm_clock_lock = has(Knob::kSmClock) ? Support::kYes : Support::kNo;
  capabilities.memory_clock_lock = has(Knob::kMemoryClock) ? Support::kYes : Support::kNo;
  capabilities.power_limit_set = has(Knob::kPowerLimit) ? Support::kYes : Support::kNo;
  capabilities.may_set = true;
  return capabilities;
}

}  // namespace

ReplayGpu::ReplayGpu(Curve curve, Clock& clock, const ReplayOptions& options)
    : curve_(std::move(curve)),
      clock_(clock),
      options_(options),
      random_(derive_seed(options.seed, to_string(curve_.key).c_str())),
      time_scale_(options.iteration ? *options.iteration / curve_.default_point().time : 1),
      drift_phase_(random_.uniform(0, 2 * std::numbers::pi)),
      capabilities_(capabilities_of(curve_)),
      start_(clock.now()),
      now_(start_),
      segment_end_(start_),
      next_refresh_(start_),
      next_history_(start_) {
  identity_.uuid = GpuUuid("replay:" + to_string(curve_.key));
  identity_.name = curve_.key.gpu;
  identity_.driver_version = "replay";
  advance();
}

double ReplayGpu::iterations() {
  advance();
  return iterations_;
}

const CurvePoint& ReplayGpu::point_in_force() const {
  const CurvePoint* point = find_point(curve_, in_force_);
  return point != nullptr ? *point : curve_.default_point();
}

void ReplayGpu::advance() {
  const Instant target = clock_.now();
  do {
    if (change_at_ && now_ >= *change_at_) {
      in_force_ = requested_;
      change_at_.reset();
      segment_end_ = now_;
    }
    if (now_ >= segment_end_) {
      // One draw covers as many iterations as the segment holds.
      const Seconds iteration = point_in_force().time * time_scale_;
      const Seconds length = std::max(iteration, kShortestSegment);
      const double spread = std::sqrt(kNoiseIterations * (iteration / length));
      time_factor_ = std::max(0.1, 1 + options_.time_noise * spread * random_.gaussian());
      power_factor_ = std::max(0.1, 1 + options_.power_noise * spread * random_.gaussian());
      // A slow draw lasts longer, so that every draw covers the same number of iterations.
      segment_end_ = now_ + length * time_factor_;
    }
    Instant next = std::min({target, segment_end_, next_refresh_, next_history_});
    if (change_at_) next = std::min(next, *change_at_);
    advance_segment(next);
  } while (now_ < target || now_ >= next_refresh_ || now_ >= next_history_);
}

void ReplayGpu::advance_segment(Instant to) {
  const CurvePoint& point = point_in_force();
  const double swing = 2 * std::numbers::pi * ((now_ - start_) / options_.drift_period);
  const double drift = 1 + options_.drift * std::sin(swing + drift_phase_);
  const Seconds iteration = point.time * (time_scale_ * time_factor_ * drift);
  const Watts power = point.power * power_factor_;
  const Seconds span = to - now_;
  iterations_ += span / iteration;
  energy_ += (power * span).value();
  now_ = to;
  if (now_ >= next_refresh_) {
    shown_energy_ = energy_;
    shown_power_ = power.value();
    next_refresh_ = now_ + options_.sensor_period;
  }
  if (now_ >= next_history_) {
    history_.push_back({now_, power});
    if (history_.size() > kReplayedHistory) history_.pop_front();
    next_history_ = now_ + options_.history_period;
  }
}

Result<Sample> ReplayGpu::read(SensorSet wanted) {
  advance();
  Sample sample;
  sample.time = now_;
  if (wanted.has(Sensor::kPowerInstant)) sample.power_instant = Watts(shown_power_);
  if (wanted.has(Sensor::kEnergy)) sample.energy = Joules(shown_energy_);
  if (wanted.has(Sensor::kClocks)) {
    const CurvePoint& point = point_in_force();
    sample.sm_clock = point.sm_seen            ? point.sm_seen
                      : point.setting.sm_clock ? point.setting.sm_clock
                                               : curve_.default_values.sm_clock;
    // A measured mean above the ceiling includes moments outside the run; a lock is never exceeded.
    if (point.setting.sm_clock)
      sample.sm_clock = std::min(*sample.sm_clock, *point.setting.sm_clock);
    sample.memory_clock =
        in_force_.memory_clock ? in_force_.memory_clock : curve_.default_values.memory_clock;
  }
  if (wanted.has(Sensor::kEventReasons)) {
    // A clock that was measured below its ceiling was held there by the power limit.
    const CurvePoint& point = point_in_force();
    const auto& ceiling = point.setting.sm_clock;
    const bool capped = ceiling && point.sm_seen && *point.sm_seen < *ceiling * kReached;
    sample.reasons = EventReasons{(in_force_.sm_clock ? EventReasons::kRequestedClocks : 0) |
                                  (capped ? EventReasons::kSoftwarePowerCap : 0)};
  }
  if (wanted.has(Sensor::kPowerLimit)) {
    sample.power_limit =
        in_force_.power_limit ? in_force_.power_limit : curve_.default_values.power_limit;
  }
  return sample;
}

Result<std::vector<TimedPower>> ReplayGpu::power_history(Instant after) {
  advance();
  std::vector<TimedPower> samples;
  std::ranges::copy_if(history_, std::back_inserter(samples),
                       [&](const TimedPower& sample) { return sample.time > after; });
  return samples;
}

Result<ActivityMetrics> ReplayGpu::activity() {
  return Error{ErrorCode::kUnsupported, "a replayed sweep has no activity metrics"};
}

Result<std::vector<GpuProcess>> ReplayGpu::processes() {
  return std::vector<GpuProcess>();
}

void ReplayGpu::request(const Setting& setting) {
  advance();
  requested_ = setting;
  const double share = random_.uniform();
  change_at_ = now_ + options_.latency_min + (options_.latency_max - options_.latency_min) * share;
}

Error ReplayGpu::unsupported(const Setting& setting) const {
  const auto distance = [&](const CurvePoint& point) {
    double sum = 0;
    for (const Knob knob : kAllKnobs) {
      const auto a = point.setting.value(knob);
      const auto b = setting.value(knob);
      if (a && b) sum += std::abs(std::log(*a / *b));
      if (a.has_value() != b.has_value()) sum += 1;
    }
    return sum;
  };
  const auto nearest = std::ranges::min_element(curve_.points, {}, distance);
  return Error{ErrorCode::kUnsupported,
               fmt::format("{} was not measured in this sweep", to_string(setting)),
               fmt::format("the nearest measured setting is {}", to_string(nearest->setting))};
}

ApplyOutcome ReplayGpu::apply(const Setting& setting) {
  const Setting wanted = overlay(requested_, setting);
  const bool known = find_point(curve_, wanted) != nullptr;
  if (known) request(wanted);
  ApplyOutcome outcome;
  for (const Knob knob : kAllKnobs) {
    if (!setting.has(knob)) continue;
    outcome.push_back({knob, known ? Result<void>() : Result<void>(unsupported(wanted))});
  }
  return outcome;
}

Result<void> ReplayGpu::reset(Knob knob) {
  Setting wanted = requested_;
  wanted.clear(knob);
  if (!(wanted == requested_)) request(wanted);
  return {};
}

}  // namespace hypermile
