// SPDX-License-Identifier: Apache-2.0
//
// The only way to NVML's setters. Their addresses are private, and the one function that calls them
// first checks HYPERMILE_READ_ONLY. It checks on every call, so an object made earlier cannot get
// around it. Resets count as changes too. Errors: kReadOnly, kPermission, kUnsupported, and others
// of nvml_error.h.
#pragma once

#include <string_view>

#include "base/result.h"
#include "gpu/nvml/nvml_abi.h"

namespace hypermile {

// True if HYPERMILE_READ_ONLY is set to anything but "" or "0": in doubt, nothing is changed.
bool read_only_mode();

class NvmlSetters {
 public:
  explicit NvmlSetters(void* library);  // a dlopen handle that must outlive this object

  bool can_lock_sm() const { return lock_sm_ != nullptr && reset_sm_ != nullptr; }
  bool can_lock_memory() const { return lock_memory_ != nullptr && reset_memory_ != nullptr; }
  bool can_set_power_limit() const { return set_limit_ != nullptr; }

  Result<void> lock_sm_clock(nvml::Device device, unsigned low_mhz, unsigned high_mhz) const;
  Result<void> reset_sm_clock(nvml::Device device) const;
  Result<void> lock_memory_clock(nvml::Device device, unsigned low_mhz, unsigned high_mhz) const;
  Result<void> reset_memory_clock(nvml::Device device) const;
  Result<void> set_power_limit(nvml::Device device, unsigned milliwatts) const;

 private:
  template <class... Parameters>
  static Result<void> guarded(std::string_view what, nvml::Return (*setter)(Parameters...),
                              Parameters... arguments);

  nvml::Return (*lock_sm_)(nvml::Device, unsigned, unsigned);
  nvml::Return (*reset_sm_)(nvml::Device);
  nvml::Return (*lock_memory_)(nvml::Device, unsigned, unsigned);
  nvml::Return (*reset_memory_)(nvml::Device);
  nvml::Return (*set_limit_)(nvml::Device, unsigned);
};

}  // namespace hypermile
