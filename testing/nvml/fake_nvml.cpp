// SPDX-License-Identifier: Apache-2.0
//
// Built three times: FAKE_NVML_LEVEL 2 is a current driver, 1 an old one (old names, no locks, no
// fields, no GPM), and 0 one that can only list its GPUs.
#include "testing/nvml/fake_nvml.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace hypermile;
using namespace hypermile::nvml;

FakeNvml* fake_nvml() {
  static FakeNvml state;
  return &state;
}

namespace {

Return enter(const char* function) {
  FakeNvml& state = *fake_nvml();
  ++state.calls[function];
  if (const auto scripted = state.returns.find(function); scripted != state.returns.end()) {
    return scripted->second;
  }
  const bool needs_init = !std::string_view(function).starts_with("nvmlInit");
  return needs_init && state.initialised <= 0 ? kUninitialized : kSuccess;
}

// A handle is the device's position in the list, counted from 1.
FakeDevice& of(Device device) {
  return fake_nvml()->devices.at(reinterpret_cast<std::size_t>(device) - 1);
}
Device handle(std::size_t index) {
  return reinterpret_cast<Device>(index + 1);
}

Return give(const std::string& text, char* out, unsigned size) {
  if (size < text.size() + 1) return kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return kSuccess;
}

[[maybe_unused]] Return give(const std::vector<unsigned>& list, unsigned* count, unsigned* out) {
  const auto size = static_cast<unsigned>(list.size());
  const bool fits = *count >= size;
  *count = size;
  if (!fits) return kInsufficientSize;
  std::copy(list.begin(), list.end(), out);
  return kSuccess;
}

[[maybe_unused]] Return give(const std::vector<FakeProcess>& list, std::size_t stride,
                             unsigned* count, void* out) {
  const auto size = static_cast<unsigned>(list.size());
  const bool fits = *count >= size;
  *count = size;
  if (!fits) return kInsufficientSize;
  auto* at = static_cast<std::byte*>(out);
  for (const FakeProcess& process : list) {
    std::memset(at, 0xFF, stride);
    const ProcessHead head{process.pid, process.memory};
    std::memcpy(at, &head, sizeof head);
    at += stride;
  }
  return kSuccess;
}

}  // namespace

#define ENTER(function) \
  if (const Return scripted = enter(#function); scripted != kSuccess) return scripted

extern "C" {

#if FAKE_NVML_LEVEL >= 2
#define INIT nvmlInit_v2
#define COUNT nvmlDeviceGetCount_v2
#define BY_INDEX nvmlDeviceGetHandleByIndex_v2
#else
#define INIT nvmlInit
#define COUNT nvmlDeviceGetCount
#define BY_INDEX nvmlDeviceGetHandleByIndex
#endif
#define NAME_OF2(name) #name
#define NAME_OF(name) NAME_OF2(name)

Return INIT() {
  if (const Return scripted = enter(NAME_OF(INIT)); scripted != kSuccess) return scripted;
  ++fake_nvml()->initialised;
  return kSuccess;
}
Return nvmlShutdown() {
  ENTER(nvmlShutdown);
  --fake_nvml()->initialised;
  return kSuccess;
}
Return COUNT(unsigned* count) {
  if (const Return scripted = enter(NAME_OF(COUNT)); scripted != kSuccess) return scripted;
  *count = static_cast<unsigned>(fake_nvml()->devices.size());
  return kSuccess;
}
Return BY_INDEX(unsigned index, Device* device) {
  if (const Return scripted = enter(NAME_OF(BY_INDEX)); scripted != kSuccess) return scripted;
  if (index >= fake_nvml()->devices.size()) return kInvalidArgument;
  *device = handle(index);
  return kSuccess;
}
Return nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
  ENTER(nvmlDeviceGetHandleByUUID);
  const auto& devices = fake_nvml()->devices;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].uuid == uuid) {
      *device = handle(i);
      return kSuccess;
    }
  }
  return kNotFound;
}
Return nvmlDeviceGetUUID(Device device, char* out, unsigned size) {
  ENTER(nvmlDeviceGetUUID);
  return give(of(device).uuid, out, size);
}

#if FAKE_NVML_LEVEL >= 1

Return nvmlSystemGetDriverVersion(char* out, unsigned size) {
  ENTER(nvmlSystemGetDriverVersion);
  return give(fake_nvml()->driver_version, out, size);
}
Return nvmlDeviceGetIndex(Device device, unsigned* index) {
  ENTER(nvmlDeviceGetIndex);
  *index = static_cast<unsigned>(reinterpret_cast<std::size_t>(device) - 1);
  return kSuccess;
}
Return nvmlDeviceGetName(Device device, char* out, unsigned size) {
  ENTER(nvmlDeviceGetName);
  return give(of(device).name, out, size);
}
Return nvmlDeviceGetPciInfo_v2(Device device, void* out) {
  ENTER(nvmlDeviceGetPciInfo_v2);
  PciInfo info{};
  info.bus = of(device).bus;
  std::memcpy(out, &info, 52);  // version 2 has 52 bytes
  return kSuccess;
}
Return nvmlDeviceGetSupportedMemoryClocks(Device device, unsigned* count, unsigned* out) {
  ENTER(nvmlDeviceGetSupportedMemoryClocks);
  return give(of(device).memory_clocks, count, out);
}
Return nvmlDeviceGetSupportedGraphicsClocks(Device device, unsigned memory, unsigned* count,
                                            unsigned* out) {
  ENTER(nvmlDeviceGetSupportedGraphicsClocks);
  const auto& known = of(device).memory_clocks;
  if (std::find(known.begin(), known.end(), memory) == known.end()) return kNotFound;
  return give(of(device).graphics_clocks, count, out);
}
Return nvmlDeviceGetPowerManagementLimitConstraints(Device device, unsigned* low, unsigned* high) {
  ENTER(nvmlDeviceGetPowerManagementLimitConstraints);
  *low = of(device).limit_min;
  *high = of(device).limit_max;
  return kSuccess;
}
Return nvmlDeviceGetPowerManagementDefaultLimit(Device device, unsigned* limit) {
  ENTER(nvmlDeviceGetPowerManagementDefaultLimit);
  *limit = of(device).limit_default;
  return kSuccess;
}
Return nvmlDeviceGetPowerManagementLimit(Device device, unsigned* limit) {
  ENTER(nvmlDeviceGetPowerManagementLimit);
  *limit = of(device).limit;
  return kSuccess;
}
Return nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatts) {
  ENTER(nvmlDeviceGetPowerUsage);
  *milliwatts = of(device).power_usage_mw;
  return kSuccess;
}
Return nvmlDeviceGetUtilizationRates(Device device, Utilization* out) {
  ENTER(nvmlDeviceGetUtilizationRates);
  *out = of(device).utilization;
  return kSuccess;
}
Return nvmlDeviceGetClockInfo(Device device, ClockType type, unsigned* mhz) {
  ENTER(nvmlDeviceGetClockInfo);
  *mhz = type == kClockMemory ? of(device).memory_mhz : of(device).sm_mhz;
  return kSuccess;
}
Return nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* bits) {
  ENTER(nvmlDeviceGetCurrentClocksThrottleReasons);
  *bits = of(device).reasons;
  return kSuccess;
}
Return nvmlDeviceGetTemperature(Device device, TemperatureSensor, unsigned* celsius) {
  ENTER(nvmlDeviceGetTemperature);
  *celsius = static_cast<unsigned>(of(device).celsius);
  return kSuccess;
}
Return nvmlDeviceGetComputeRunningProcesses(Device device, unsigned* count, void* out) {
  ENTER(nvmlDeviceGetComputeRunningProcesses);
  return give(of(device).processes, kProcessStride1, count, out);
}
Return nvmlDeviceSetPowerManagementLimit(Device device, unsigned limit) {
  ENTER(nvmlDeviceSetPowerManagementLimit);
  of(device).limit = of(device).limit_held.value_or(limit);
  return kSuccess;
}

#endif  // FAKE_NVML_LEVEL >= 1

#if FAKE_NVML_LEVEL >= 2

Return nvmlDeviceGetPciInfo_v3(Device device, PciInfo* out) {
  ENTER(nvmlDeviceGetPciInfo_v3);
  *out = PciInfo{};
  out->bus = of(device).bus;
  return kSuccess;
}
Return nvmlDeviceGetArchitecture(Device device, unsigned* out) {
  ENTER(nvmlDeviceGetArchitecture);
  *out = of(device).architecture;
  return kSuccess;
}
Return nvmlDeviceGetMigMode(Device device, unsigned* current, unsigned* pending) {
  ENTER(nvmlDeviceGetMigMode);
  *current = *pending = of(device).mig;
  return kSuccess;
}
Return nvmlDeviceGetVirtualizationMode(Device device, VirtualizationMode* mode) {
  ENTER(nvmlDeviceGetVirtualizationMode);
  *mode = of(device).virtualization;
  return kSuccess;
}
Return nvmlDeviceGetEnforcedPowerLimit(Device device, unsigned* limit) {
  ENTER(nvmlDeviceGetEnforcedPowerLimit);
  *limit = of(device).limit;
  return kSuccess;
}
Return nvmlDeviceGetFieldValues(Device device, int count, FieldValue* fields) {
  ENTER(nvmlDeviceGetFieldValues);
  for (int i = 0; i < count; ++i) {
    const bool instant = fields[i].field_id == kFieldPowerInstant;
    const double milliwatts = instant ? of(device).power_instant_mw : of(device).power_average_mw;
    fields[i].status = instant ? of(device).power_instant_status : kSuccess;
    fields[i].type = kUnsignedInt;
    fields[i].value.as_unsigned = static_cast<unsigned>(milliwatts);
  }
  return kSuccess;
}
Return nvmlDeviceGetTotalEnergyConsumption(Device device, unsigned long long* millijoules) {
  ENTER(nvmlDeviceGetTotalEnergyConsumption);
  *millijoules = of(device).energy_mj;
  return kSuccess;
}
Return nvmlDeviceGetSamples(Device device, SamplingType, unsigned long long after, ValueType* type,
                            unsigned* count, PowerSample* out) {
  ENTER(nvmlDeviceGetSamples);
  const auto& all = of(device).power_samples;
  *type = kUnsignedInt;
  if (out == nullptr) {
    *count = 120;  // the size of the card's buffer, however full it is
    return kSuccess;
  }
  std::vector<PowerSample> fresh;
  std::copy_if(all.begin(), all.end(), std::back_inserter(fresh),
               [after](const PowerSample& sample) { return sample.timestamp_us > after; });
  if (fresh.empty()) return kNotFound;
  if (*count < fresh.size()) return kInsufficientSize;
  *count = static_cast<unsigned>(fresh.size());
  std::copy(fresh.begin(), fresh.end(), out);
  return kSuccess;
}
Return nvmlDeviceGetCurrentClocksEventReasons(Device device, unsigned long long* bits) {
  ENTER(nvmlDeviceGetCurrentClocksEventReasons);
  *bits = of(device).reasons;
  return kSuccess;
}
Return nvmlDeviceGetTemperatureV(Device device, Temperature* temperature) {
  ENTER(nvmlDeviceGetTemperatureV);
  if (temperature->version != kTemperatureVersion1) return kArgumentVersionMismatch;
  temperature->celsius = of(device).celsius;
  return kSuccess;
}
Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, void* out) {
  ENTER(nvmlDeviceGetComputeRunningProcesses_v3);
  const bool long_layout = fake_nvml()->driver_version.starts_with("535.86");
  return give(of(device).processes, long_layout ? kProcessStride535 : kProcessStride2, count, out);
}
Return nvmlDeviceGetMPSComputeRunningProcesses_v3(Device device, unsigned* count, void* out) {
  ENTER(nvmlDeviceGetMPSComputeRunningProcesses_v3);
  return give(of(device).mps_clients, kProcessStride2, count, out);
}
Return nvmlGpmQueryDeviceSupport(Device device, GpmSupport* support) {
  ENTER(nvmlGpmQueryDeviceSupport);
  support->supported = of(device).gpm_supported;
  return support->version == kGpmSupportVersion1 ? kSuccess : kArgumentVersionMismatch;
}
Return nvmlGpmSampleAlloc(GpmSample* sample) {
  ENTER(nvmlGpmSampleAlloc);
  *sample = reinterpret_cast<GpmSample>(new Device(nullptr));
  ++fake_nvml()->gpm_samples;
  return kSuccess;
}
Return nvmlGpmSampleFree(GpmSample sample) {
  ENTER(nvmlGpmSampleFree);
  delete reinterpret_cast<Device*>(sample);
  --fake_nvml()->gpm_samples;
  return kSuccess;
}
Return nvmlGpmSampleGet(Device device, GpmSample sample) {
  ENTER(nvmlGpmSampleGet);
  *reinterpret_cast<Device*>(sample) = device;
  return kSuccess;
}
Return nvmlGpmMetricsGet(GpmMetricsGet* request) {
  ENTER(nvmlGpmMetricsGet);
  if (request->version != kGpmMetricsGetVersion1) return kArgumentVersionMismatch;
  const Device device = *reinterpret_cast<Device*>(request->first);
  for (unsigned i = 0; i < request->count; ++i) {
    const auto& gpm = of(device).gpm;
    const auto scripted = gpm.find(request->metrics[i].id);
    request->metrics[i].value = scripted == gpm.end() ? 50 : scripted->second;
    request->metrics[i].status = kSuccess;
  }
  return kSuccess;
}
Return nvmlDeviceSetGpuLockedClocks(Device device, unsigned low, unsigned high) {
  ENTER(nvmlDeviceSetGpuLockedClocks);
  of(device).sm_lock = {low, high};
  return kSuccess;
}
Return nvmlDeviceResetGpuLockedClocks(Device device) {
  ENTER(nvmlDeviceResetGpuLockedClocks);
  of(device).sm_lock.reset();
  return kSuccess;
}
Return nvmlDeviceSetMemoryLockedClocks(Device device, unsigned low, unsigned high) {
  ENTER(nvmlDeviceSetMemoryLockedClocks);
  of(device).memory_lock = {low, high};
  return kSuccess;
}
Return nvmlDeviceResetMemoryLockedClocks(Device device) {
  ENTER(nvmlDeviceResetMemoryLockedClocks);
  of(device).memory_lock.reset();
  return kSuccess;
}

#endif  // FAKE_NVML_LEVEL >= 2

}  // extern "C"
