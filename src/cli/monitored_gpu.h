// SPDX-License-Identifier: Apache-2.0
//
// One GPU under `hypermile monitor`: its sampler, its energy since the start, and the window of the
// line that is being measured. Only reads.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "measure/sampler.h"
#include "measure/window_meter.h"
#include "record/event_log.h"
#include "run/gpu_access.h"

namespace hypermile {

class MonitoredGpu {
 public:
  // `clock` must outlive it.
  MonitoredGpu(OpenedGpu gpu, Clock& clock, Seconds interval);

  const GpuIdentity& identity() const { return gpu_.gpu->identity(); }
  Instant due() const { return sampler_.due(); }

  void begin_line();
  // Reads what is due. Returns a change of throttling, where there is one, for the log.
  Result<std::optional<Throttle>> poll();
  // Ends the line; the sample is for the log.
  SampleEvent end_line();

  // The line measured last, as columns and as JSON.
  std::string line() const;
  static std::string header();
  nlohmann::json json() const;
  Joules energy() const;  // since the start

 private:
  double iterations() const { return gpu_.iterations ? gpu_.iterations() : 0; }
  Seconds elapsed() const { return clock_.now() - start_; }

  OpenedGpu gpu_;
  Clock& clock_;
  Sampler sampler_;
  Instant start_;
  EnergyMeter total_;  // over the whole run, which is exact even where lines are short
  std::optional<WindowMeter> meter_;
  Window window_;  // of the last line
  Sample last_;
  std::optional<Sample> logged_;  // the last sample that holds the energy counter
  bool throttled_ = false;
};

}  // namespace hypermile
