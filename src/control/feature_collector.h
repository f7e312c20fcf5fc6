// SPDX-License-Identifier: Apache-2.0
//
// Collects what a job asks of its GPU (measure/features.h) over one baseline Window: activity
// counters where the card has them, utilisation where it has not, and performance counters where
// the user wants them read. It costs driver calls, so a Controller has one only for the first
// baseline of a phase and after the job has changed, never all the time. Nothing here fails: what
// cannot be read is missing.
#pragma once

#include <array>
#include <optional>

#include "measure/gpu_watch.h"
#include "measure/performance_counters.h"
#include "progress/follow/process_progress.h"

namespace hypermile {

class FeatureCollector {
 public:
  // The Window begins now. All must outlive it; `counters` is null where they are not wanted.
  FeatureCollector(const ProcessProgress& process, GpuWatch& gpu, PerformanceCounters* counters);
  ~FeatureCollector();
  FeatureCollector(const FeatureCollector&) = delete;
  FeatureCollector& operator=(const FeatureCollector&) = delete;

  // As often as one likes: reads when something is due.
  void poll(Instant now);
  // The Window is over.
  Features collect(const Window& baseline);

  const ProcessProgress& process() const { return process_; }
  const GpuWatch& gpu() const { return gpu_; }
  Seconds spent() const { return spent_; }  // in driver calls
  std::size_t driver_calls() const { return calls_; }
  // After collect(), where counters were wanted.
  const std::optional<PerformanceCounterReading>& counted() const { return counted_; }

 private:
  struct Mean {
    double sum = 0;
    double count = 0;
    void add(std::optional<double> value);
    std::optional<double> value() const;
  };

  void read_activity();
  void read_utilization();

  const ProcessProgress& process_;
  GpuWatch& gpu_;
  bool has_activity_;
  Instant begin_, next_;
  std::uint64_t launches_;
  std::array<Mean, 12> activity_;
  Mean gpu_utilization_, memory_utilization_;
  Seconds spent_;
  std::size_t calls_ = 0;
  PerformanceCounters* counters_;  // null once it has ended
  std::optional<PerformanceCounterReading> counted_;
};

}  // namespace hypermile
