// SPDX-License-Identifier: Apache-2.0
//
// NVML's readers as function pointers, looked up in a loaded library. A function that the library
// lacks is null, and call() then returns kFunctionNotFound. Setters are not here on purpose: only
// NvmlSetters can reach them.
#pragma once

#include <initializer_list>

#include "gpu/nvml/nvml_abi.h"

namespace hypermile::nvml {

struct Functions {
  Return (*init)();
  Return (*shutdown)();
  Return (*system_driver_version)(char*, unsigned);
  Return (*device_count)(unsigned*);
  Return (*device_by_index)(unsigned, Device*);
  Return (*device_by_uuid)(const char*, Device*);
  Return (*device_index)(Device, unsigned*);
  Return (*device_uuid)(Device, char*, unsigned);
  Return (*device_name)(Device, char*, unsigned);
  Return (*device_pci)(Device, PciInfo*);
  Return (*architecture)(Device, unsigned*);
  Return (*mig_mode)(Device, unsigned*, unsigned*);
  Return (*virtualization_mode)(Device, VirtualizationMode*);
  Return (*memory_clocks)(Device, unsigned*, unsigned*);
  Return (*graphics_clocks)(Device, unsigned, unsigned*, unsigned*);
  Return (*power_limit_constraints)(Device, unsigned*, unsigned*);
  Return (*power_limit_default)(Device, unsigned*);
  Return (*power_limit)(Device, unsigned*);
  Return (*power_limit_enforced)(Device, unsigned*);
  Return (*field_values)(Device, int, FieldValue*);
  Return (*power_usage)(Device, unsigned*);
  Return (*total_energy)(Device, unsigned long long*);
  Return (*samples)(Device, SamplingType, unsigned long long, ValueType*, unsigned*, PowerSample*);
  Return (*utilization)(Device, Utilization*);
  Return (*clock)(Device, ClockType, unsigned*);
  Return (*event_reasons)(Device, unsigned long long*);
  Return (*temperature_v)(Device, Temperature*);
  Return (*temperature)(Device, TemperatureSensor, unsigned*);
  Return (*compute_processes)(Device, unsigned*, void*);
  Return (*mps_processes)(Device, unsigned*, void*);
  Return (*gpm_support)(Device, GpmSupport*);
  Return (*gpm_sample_alloc)(GpmSample*);
  Return (*gpm_sample_free)(GpmSample);
  Return (*gpm_sample_get)(Device, GpmSample);
  Return (*gpm_metrics_get)(GpmMetricsGet*);
  // Not part of NVML: only hypermile's stand-in exports it, to say whether this process may set.
  int (*stand_in_may_set)();

  std::size_t compute_process_stride = kProcessStride2;
  std::size_t mps_process_stride = kProcessStride2;
};

// Looks up every function in `library` (a dlopen handle), newest version first.
Functions load_functions(void* library);

// The address of the first of `names` that `library` exports, or null.
void* find_symbol(void* library, std::initializer_list<const char*> names);

template <class... Parameters, class... Arguments>
Return call(Return (*function)(Parameters...), Arguments... arguments) {
  return function != nullptr ? function(arguments...) : kFunctionNotFound;
}

}  // namespace hypermile::nvml
