// SPDX-License-Identifier: Apache-2.0
//
// Records a SensorTrace of one GPU while a Setting is in force. A Controller has one only where the
// policy asks for traces, since it costs a driver call every 100 ms, and polls it in every round.
// Nothing here fails: a reading that cannot be had repeats the last one.
#pragma once

#include <memory>

#include "measure/gpu_watch.h"
#include "measure/sensor_trace.h"

namespace hypermile {

class TraceCollector {
 public:
  // The trace begins now. `gpu` must outlive it.
  explicit TraceCollector(GpuWatch& gpu);

  // As often as one likes: reads when a sample is due.
  void poll(Instant now);
  // Everything since the beginning, or the last kLongestTrace of it.
  std::shared_ptr<const SensorTrace> trace() const;

 private:
  void add(double power_w, double gpu_percent, double memory_percent);

  GpuWatch& gpu_;
  SensorTrace trace_;
  Instant next_;
};

}  // namespace hypermile
