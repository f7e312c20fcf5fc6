// SPDX-License-Identifier: Apache-2.0
//
// NVML's readings of a GPU over time, as series for the spectral detector. Filled from a recording
// (nvml_trace_file.h) or from the Samples of a running job.
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
  // Polled values in order of time; a register keeps its value between two refreshes. An unknown
  // series is empty.
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
