// SPDX-License-Identifier: Apache-2.0
//
// Performance counters of a simulated card, as a card without NVML's activity metrics has them
// through CUPTI: the true shares between begin() and end(). What the simulator does not model (L2,
// the integer and FP16 pipes, NVLink) is missing. Simulated runs and sweeps with
// --counters use it; an interval without time is a problem in words.
#pragma once

#include <optional>

#include "measure/performance_counters.h"
#include "sim/sim_gpu.h"

namespace hypermile {

class SimulatedCounters final : public PerformanceCounters {
 public:
  // `card` runs `load`; both must outlive it.
  SimulatedCounters(SimGpu& card, const Load& load) : card_(card), load_(load) {}

  void begin(const GpuIdentity& gpu) override;
  PerformanceCounterReading end() override;

 private:
  struct Reading {
    Totals totals;
    double time_s = 0;
  };
  Reading read();
  double issued(double scalar, double tensor, double dram);

  SimGpu& card_;
  const Load& load_;
  std::optional<Reading> begun_;
};

}  // namespace hypermile
