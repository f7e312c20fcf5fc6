// SPDX-License-Identifier: Apache-2.0
//
// What the card's units were busy with between two calls (GPM: Hopper and newer). Unlike profiling
// counters these can be read beside any profiler.
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
  std::optional<Instant> older_time_;  // nullopt: `older_` holds nothing yet
};

}  // namespace hypermile
