// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/nvml_setters.h"

#include <cstdlib>
#include <string>

#include "gpu/nvml/nvml_error.h"
#include "gpu/nvml/nvml_functions.h"

namespace hypermile {
namespace {

template <class Function>
void find(void* library, Function*& slot, const char* name) {
  slot = reinterpret_cast<Function*>(nvml::find_symbol(library, {name}));
}

}  // namespace

bool read_only_mode() {
  const char* value = std::getenv("HYPERMILE_READ_ONLY");
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

NvmlSetters::NvmlSetters(void* library) {
  find(library, lock_sm_, "nvmlDeviceSetGpuLockedClocks");
  find(library, reset_sm_, "nvmlDeviceResetGpuLockedClocks");
  find(library, lock_memory_, "nvmlDeviceSetMemoryLockedClocks");
  find(library, reset_memory_, "nvmlDeviceResetMemoryLockedClocks");
  find(library, set_limit_, "nvmlDeviceSetPowerManagementLimit");
}

template <class... Parameters>
Result<void> NvmlSetters::guarded(std::string_view what, nvml::Return (*setter)(Parameters...),
                                  Parameters... arguments) {
  if (read_only_mode()) {
    return Error{ErrorCode::kReadOnly,
                 "cannot " + std::string(what) + ": HYPERMILE_READ_ONLY forbids every change",
                 "unset HYPERMILE_READ_ONLY to allow it"};
  }
  const nvml::Return code = nvml::call(setter, arguments...);
  if (code != nvml::kSuccess) return nvml_error(code, what);
  return {};
}

Result<void> NvmlSetters::lock_sm_clock(nvml::Device device, unsigned low, unsigned high) const {
  return guarded("set the SM clock", lock_sm_, device, low, high);
}

Result<void> NvmlSetters::reset_sm_clock(nvml::Device device) const {
  return guarded("reset the SM clock", reset_sm_, device);
}

Result<void> NvmlSetters::lock_memory_clock(nvml::Device device, unsigned low,
                                            unsigned high) const {
  return guarded("set the memory clock", lock_memory_, device, low, high);
}

Result<void> NvmlSetters::reset_memory_clock(nvml::Device device) const {
  return guarded("reset the memory clock", reset_memory_, device);
}

Result<void> NvmlSetters::set_power_limit(nvml::Device device, unsigned milliwatts) const {
  return guarded("set the power limit", set_limit_, device, milliwatts);
}

}  // namespace hypermile
