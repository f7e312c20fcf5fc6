// SPDX-License-Identifier: Apache-2.0
//
// The card's own buffer of power samples (one every 20 ms on an H200), with NVML's Unix time stamps
// translated to the Clock. Part of NvmlGpu; one thread at a time.
#pragma once

#include <span>
#include <vector>

#include "base/clock.h"
#include "gpu/gpu.h"
#include "gpu/nvml/nvml_library.h"

namespace hypermile {

class NvmlPowerHistory {
 public:
  // `library` and `clock` must outlive this.
  NvmlPowerHistory(const NvmlLibrary& library, nvml::Device device, Clock& clock,
                   Watts power_ceiling);

  // Samples after `after`, oldest first; empty if there are none yet.
  Result<std::vector<TimedPower>> since(Instant after);

 private:
  void follow_wall_clock();
  Result<std::span<const nvml::PowerSample>> drain(unsigned long long after_us,
                                                   nvml::ValueType& type);

  const nvml::Functions& nvml_;
  nvml::Device device_;
  Clock& clock_;
  Watts ceiling_;
  std::int64_t unix_minus_clock_us_;
  std::vector<nvml::PowerSample> buffer_;
};

}  // namespace hypermile
