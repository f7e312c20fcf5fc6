// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/nvml_functions.h"

#include <dlfcn.h>

namespace hypermile::nvml {
namespace {

template <class Function>
void find(void* library, Function*& slot, std::initializer_list<const char*> names) {
  slot = reinterpret_cast<Function*>(find_symbol(library, names));
}

void load_system(void* library, Functions& f) {
  find(library, f.init, {"nvmlInit_v2", "nvmlInit"});
  find(library, f.shutdown, {"nvmlShutdown"});
  find(library, f.system_driver_version, {"nvmlSystemGetDriverVersion"});
  find(library, f.device_count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  find(library, f.device_by_index, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  find(library, f.device_by_uuid, {"nvmlDeviceGetHandleByUUID"});
  find(library, f.device_index, {"nvmlDeviceGetIndex"});
  find(library, f.device_uuid, {"nvmlDeviceGetUUID"});
  find(library, f.device_name, {"nvmlDeviceGetName"});
  find(library, f.device_pci,
       {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"});
  find(library, f.architecture, {"nvmlDeviceGetArchitecture"});
  find(library, f.mig_mode, {"nvmlDeviceGetMigMode"});
  find(library, f.virtualization_mode, {"nvmlDeviceGetVirtualizationMode"});
  find(library, f.stand_in_may_set, {"hypermileStandInMaySet"});
}

void load_knobs(void* library, Functions& f) {
  find(library, f.memory_clocks, {"nvmlDeviceGetSupportedMemoryClocks"});
  find(library, f.graphics_clocks, {"nvmlDeviceGetSupportedGraphicsClocks"});
  find(library, f.power_limit_constraints, {"nvmlDeviceGetPowerManagementLimitConstraints"});
  find(library, f.power_limit_default, {"nvmlDeviceGetPowerManagementDefaultLimit"});
  find(library, f.power_limit, {"nvmlDeviceGetPowerManagementLimit"});
  find(library, f.power_limit_enforced,
       {"nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit"});
}

void load_sensors(void* library, Functions& f) {
  find(library, f.field_values, {"nvmlDeviceGetFieldValues"});
  find(library, f.power_usage, {"nvmlDeviceGetPowerUsage"});
  find(library, f.total_energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  find(library, f.samples, {"nvmlDeviceGetSamples"});
  find(library, f.utilization, {"nvmlDeviceGetUtilizationRates"});
  find(library, f.clock, {"nvmlDeviceGetClockInfo"});
  find(library, f.event_reasons,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  find(library, f.temperature_v, {"nvmlDeviceGetTemperatureV"});
  find(library, f.temperature, {"nvmlDeviceGetTemperature"});
  find(library, f.gpm_support, {"nvmlGpmQueryDeviceSupport"});
  find(library, f.gpm_sample_alloc, {"nvmlGpmSampleAlloc"});
  find(library, f.gpm_sample_free, {"nvmlGpmSampleFree"});
  find(library, f.gpm_sample_get, {"nvmlGpmSampleGet"});
  find(library, f.gpm_metrics_get, {"nvmlGpmMetricsGet"});
}

// The unversioned functions fill a smaller struct, so the stride depends on which one was found.
void load_processes(void* library, Functions& f) {
  find(library, f.compute_processes,
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  if (f.compute_processes == nullptr) {
    find(library, f.compute_processes, {"nvmlDeviceGetComputeRunningProcesses"});
    f.compute_process_stride = kProcessStride1;
  }
  find(
      library, f.mps_processes,
      {"nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v2"});
  if (f.mps_processes == nullptr) {
    find(library, f.mps_processes, {"nvmlDeviceGetMPSComputeRunningProcesses"});
    f.mps_process_stride = kProcessStride1;
  }
}

}  // namespace

void* find_symbol(void* library, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* address = dlsym(library, name)) return address;
  }
  return nullptr;
}

Functions load_functions(void* library) {
  Functions functions{};
  load_system(library, functions);
  load_knobs(library, functions);
  load_sensors(library, functions);
  load_processes(library, functions);
  return functions;
}

}  // namespace hypermile::nvml
