// SPDX-License-Identifier: Apache-2.0
#include "progress/spectrum/nvml_trace.h"

#include <algorithm>

namespace hypermile {

void NvmlTrace::add(const Sample& sample) {
  const double time = sample.time.since_origin().value();
  const auto& power = sample.power_instant ? sample.power_instant : sample.power_average;
  if (power) power_w.push_back({time, power->value()});
  if (sample.gpu_utilization) gpu_percent.push_back({time, *sample.gpu_utilization * 100});
  if (sample.memory_utilization) memory_percent.push_back({time, *sample.memory_utilization * 100});
  if (sample.energy) energy_j.push_back({time, sample.energy->value()});
}

void NvmlTrace::add(std::span<const TimedPower> history) {
  for (const TimedPower& one : history) {
    history_w.push_back({one.time.since_origin().value(), one.power.value()});
  }
}

double NvmlTrace::span_s() const {
  const auto of = [](const std::vector<TimedValue>& series) {
    return series.empty() ? 0 : series.back().time_s - series.front().time_s;
  };
  return std::max(of(power_w), of(history_w));
}

}  // namespace hypermile
