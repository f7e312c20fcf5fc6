// SPDX-License-Identifier: Apache-2.0
#include "control/trace_collector.h"

namespace hypermile {
namespace {

// GPOEO's detector wants 82.5 s at most, after up to 8 s of settling.
constexpr std::size_t kLongestTrace = 1200;  // samples: 120 s

}  // namespace

TraceCollector::TraceCollector(GpuWatch& gpu) : gpu_(gpu), next_(gpu.clock().now()) {
  trace_.begin = next_;
  const Capabilities& card = gpu.capabilities();
  trace_.power_limit =
      card.current_power_limit ? card.current_power_limit : card.default_power_limit;
}

void TraceCollector::poll(Instant now) {
  if (now < next_ || gpu_.failing()) return;
  const Result<Sample> sample =
      gpu_.gpu().read(Sensor::kPowerAverage | Sensor::kPowerInstant | Sensor::kUtilization);
  double power = trace_.power_w.empty() ? 0 : trace_.power_w.back();
  double busy = trace_.gpu_percent.empty() ? 0 : trace_.gpu_percent.back();
  double memory = trace_.memory_percent.empty() ? 0 : trace_.memory_percent.back();
  if (sample) {
    // What NVML calls the power usage: a mean over the last second on most cards.
    const auto watts = sample->power_average ? sample->power_average : sample->power_instant;
    if (watts) power = watts->value();
    if (sample->gpu_utilization) busy = 100 * *sample->gpu_utilization;
    if (sample->memory_utilization) memory = 100 * *sample->memory_utilization;
  }
  // A round that came late fills the samples that it missed.
  for (; next_ <= now; next_ = next_ + kTraceStep) add(power, busy, memory);
}

void TraceCollector::add(double power_w, double gpu_percent, double memory_percent) {
  trace_.power_w.push_back(power_w);
  trace_.gpu_percent.push_back(gpu_percent);
  trace_.memory_percent.push_back(memory_percent);
  if (trace_.size() <= 2 * kLongestTrace) return;
  const auto drop = [](std::vector<double>& series) {
    series.erase(series.begin(), series.begin() + kLongestTrace);
  };
  drop(trace_.power_w);
  drop(trace_.gpu_percent);
  drop(trace_.memory_percent);
  trace_.begin = trace_.begin + kTraceStep * static_cast<double>(kLongestTrace);
}

std::shared_ptr<const SensorTrace> TraceCollector::trace() const {
  return std::make_shared<const SensorTrace>(trace_);
}

}  // namespace hypermile
