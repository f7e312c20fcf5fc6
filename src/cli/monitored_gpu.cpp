// SPDX-License-Identifier: Apache-2.0
#include "cli/monitored_gpu.h"

#include <fmt/format.h>

#include <algorithm>

namespace hypermile {
namespace {

// The energy counter is read twice per line, so that every line has steps of its own.
SamplerOptions sampler_options(Seconds interval) {
  SamplerOptions options;
  options.cheap = Sensor::kPowerInstant | Sensor::kPowerAverage | Sensor::kClocks |
                  Sensor::kUtilization | Sensor::kTemperature | Sensor::kEventReasons;
  options.counter_period = std::min(options.counter_period, interval / 2);
  options.drain_period = Seconds(0);
  return options;
}

template <class Value>
std::string shown(const std::optional<Value>& value, double scale = 1, int digits = 0) {
  if (!value) return "-";
  if constexpr (std::is_same_v<Value, double>) {
    return fmt::format("{:.{}f}", *value * scale, digits);
  } else {
    return fmt::format("{:.{}f}", value->value() * scale, digits);
  }
}

// A new step of the energy counter, if there is one, and the other sensors.
std::vector<Sample> parts_of(const SamplerReading& reading) {
  std::vector<Sample> parts;
  if (reading.step) {
    parts.emplace_back().time = reading.step->time;
    parts.back().energy = reading.step->energy;
  }
  parts.push_back(reading.sample);
  parts.back().energy.reset();
  return parts;
}

std::string throttling(const Sample& sample) {
  if (!sample.reasons) return "-";
  return sample.reasons->throttled() ? to_string(*sample.reasons) : "none";
}

}  // namespace

MonitoredGpu::MonitoredGpu(OpenedGpu gpu, Clock& clock, Seconds interval)
    : gpu_(std::move(gpu)),
      clock_(clock),
      sampler_(*gpu_.gpu, clock, sampler_options(interval)),
      start_(clock.now()) {}

void MonitoredGpu::begin_line() {
  meter_.emplace(Setting{}, clock_.now(), iterations());
  logged_.reset();
}

Result<std::optional<Throttle>> MonitoredGpu::poll() {
  ASSIGN_OR_RETURN(const SamplerReading reading, sampler_.poll());
  last_ = reading.sample;
  if (last_.energy) logged_ = last_;
  // Only steps of the counter are used, because they carry the time of the change.
  last_.energy.reset();
  for (const Sample& sample : parts_of(reading)) {
    meter_->add(sample);
    total_.add(sample);
  }
  if (!last_.reasons || last_.reasons->throttled() == throttled_) return std::optional<Throttle>();
  throttled_ = last_.reasons->throttled();
  return std::optional(Throttle{identity().uuid, throttled_ ? *last_.reasons : EventReasons{}});
}

SampleEvent MonitoredGpu::end_line() {
  window_ = meter_->close(clock_.now(), iterations());
  return {identity().uuid, logged_.value_or(last_)};
}

Joules MonitoredGpu::energy() const {
  const auto mean = total_.mean_power();
  return mean ? mean->power * elapsed() : Joules(0);
}

std::string MonitoredGpu::header() {
  return fmt::format("{:>8} {:>6} {:>9} {:>6} {:>7} {:>5} {:>5} {:>3} {:>8}  {}", "time s", "W",
                     "energy J", "SM MHz", "mem MHz", "GPU %", "mem %", "°C", "ms/iter",
                     "throttling");
}

std::string MonitoredGpu::line() const {
  return fmt::format("{:>8.1f} {:>6} {:>9.0f} {:>6} {:>7} {:>5} {:>5} {:>3} {:>8}  {}",
                     elapsed().value(), shown(window_.power, 1, 1), energy().value(),
                     shown(last_.sm_clock), shown(last_.memory_clock),
                     shown(last_.gpu_utilization, 100), shown(last_.memory_utilization, 100),
                     shown(last_.temperature), shown(window_.time_per_iteration, 1e3, 2),
                     throttling(last_));
}

nlohmann::json MonitoredGpu::json() const {
  nlohmann::json j = {{"t_s", elapsed().value()}};
  if (window_.power) j["power_w"] = window_.power->value();
  if (last_.sm_clock) j["sm_mhz"] = last_.sm_clock->value();
  if (last_.memory_clock) j["mem_mhz"] = last_.memory_clock->value();
  if (last_.gpu_utilization) j["gpu_utilization"] = *last_.gpu_utilization;
  if (last_.temperature) j["temperature_c"] = last_.temperature->value();
  if (last_.reasons) j["throttled"] = last_.reasons->throttled();
  if (window_.time_per_iteration) j["time_per_iteration_s"] = window_.time_per_iteration->value();
  return j;
}

}  // namespace hypermile
