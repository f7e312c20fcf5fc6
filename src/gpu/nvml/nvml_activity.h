// SPDX-License-Identifier: Apache-2.0
//
// Reads how busy the card's units were between two calls (GPM, on Hopper and newer). Unlike
// profiling counters, GPM can be read while a profiler runs. See Gpu::activity() for the failures;
// one thread at a time.
#pragma once

#include <optional>

#include "base/clock.h"
#include "gpu/gpu.h"
#include "gpu/nvml/nvml_library.h"

namespace hypermile {

class NvmlActivity {
 public:
  // `library` and `clock` must outlive this.
  NvmlActivity(const NvmlLibrary& library, nvml::Device device, Clock& clock);
  ~NvmlActivity();
  NvmlActivity(const NvmlActivity&) = delete;
  NvmlActivity& operator=(const NvmlActivity&) = delete;

  Result<ActivityMetrics> since_previous();

 private:
  Result<void> allocate();
  Result<ActivityMetrics> between(Instant from, Instant to) const;

  const nvml::Functions& nvml_;
  nvml::Device device_;
  Clock& clock_;
  nvml::GpmSample older_ = nullptr;
  nvml::GpmSample newer_ = nullptr;
  std::optional<Instant> older_time_;  // nullopt until `older_` holds a sample
};

}  // namespace hypermile
