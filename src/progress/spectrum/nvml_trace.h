// SPDX-License-Identifier: Apache-2.0
//
// What NVML told of a GPU over some time, as series: the material of the spectral detector. Filled
// from a recording (nvml_trace_file.h) or from Samples of a running job.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "gpu/gpu.h"

namespace hypermile {

struct TimedValue {
  double time_s = 0;
  double value = 0;
};

struct NvmlTrace {
  // As polled, each in order of time; registers keep their value between two refreshes. A series
  // that is not known is empty.
  std::vector<TimedValue> power_w;
  std::vector<TimedValue> gpu_percent;
  std::vector<TimedValue> memory_percent;
  std::vector<TimedValue> energy_j;
  // The card's own buffer of power samples, with its own time stamps.
  std::vector<TimedValue> history_w;

  void add(const Sample& sample);
  void add(std::span<const TimedPower> history);
  double span_s() const;
};

}  // namespace hypermile
