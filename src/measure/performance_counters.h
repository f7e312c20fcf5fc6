// SPDX-License-Identifier: Apache-2.0
//
// Reads a GPU's performance counters for a while, on cards whose NVML does not report activity. Off
// unless the user passes --counters, since it may slow the job a little. The controller calls it on
// its thread around a baseline Window. Neither call blocks; on any failure features are missing and
// `problem` says why.
#pragma once

#include <cstddef>
#include <string>

#include "measure/features.h"

namespace hypermile {

struct PerformanceCounterReading {
  Features features;        // only those that performance counters provide
  std::size_t samples = 0;  // number of samples in the means
  std::string problem;      // one line; empty on success
};

class PerformanceCounters {
 public:
  virtual ~PerformanceCounters() = default;

  // Starts reading. Reading stops at end(), or once there are enough samples.
  virtual void begin(const GpuIdentity& gpu) = 0;
  // Returns what was read since begin(); empty if begin() was not called.
  virtual PerformanceCounterReading end() = 0;
};

}  // namespace hypermile
