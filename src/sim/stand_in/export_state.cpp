// SPDX-License-Identifier: Apache-2.0
//
// Exported functions about the rest of a card's state: utilisation, temperature, memory, modes and
// processes.
#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/stand_in/nvml_more_abi.h"
#include "sim/stand_in/stand_in.h"

using namespace hypermile;
using namespace hypermile::stand_in;

namespace {

constexpr unsigned long long kReservedMemory = 450ULL << 20;
constexpr unsigned kNoInstance = 0xFFFFFFFF;
constexpr int kShutdownAboveSlowdown = 5;

unsigned percent(double share) {
  return static_cast<unsigned>(std::lround(std::clamp(share, 0.0, 1.0) * 100));
}

int celsius(const GpuView& view) {
  return static_cast<int>(std::lround(view.now.die.value()));
}

unsigned long long used_memory(const GpuView& view) {
  return view.record.job.present ? view.record.job.memory_bytes : 0;
}

template <class Process>
Process describe(const JobSlot& job) {
  Process process{};
  process.pid = static_cast<unsigned>(job.pid);
  process.used_memory = job.memory_bytes;
  if constexpr (std::is_same_v<Process, nvml::Process2>) {
    process.gpu_instance = kNoInstance;
    process.compute_instance = kNoInstance;
  }
  return process;
}

template <class Process>
nvml::Return compute_processes(const char* function, nvml::Device device, unsigned* count,
                               Process* out) {
  return look_at(function, device, [&](const GpuView& view, Machine&, unsigned) {
    std::vector<Process> list;
    if (view.record.job.present) list.push_back(describe<Process>(view.record.job));
    return give_list(list, count, out);
  });
}

// Graphics and MPS processes never exist on a simulated card.
nvml::Return no_processes(const char* function, nvml::Device device, unsigned* count) {
  return on_gpu(function, device, [&](Machine&, unsigned) { return give(count, 0U); });
}

nvml::Return fixed(const char* function, nvml::Device device, unsigned* out, unsigned value) {
  return on_gpu(function, device, [&](Machine&, unsigned) { return give(out, value); });
}

}  // namespace

NVML_EXPORT nvml::Return nvmlDeviceGetUtilizationRates(nvml::Device device,
                                                       nvml::Utilization* out) {
  return look_at(__func__, device, [&](const GpuView& view, Machine&, unsigned) {
    const SensorState& sensors = view.record.sim.sensors;
    return give(out, nvml::Utilization{percent(sensors.shown_utilization),
                                       percent(sensors.shown_memory_utilization)});
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetProcessUtilization(nvml::Device device,
                                                         nvml::ProcessUtilization* out,
                                                         unsigned* count,
                                                         unsigned long long after_us) {
  return look_at(__func__, device, [&](const GpuView& view, Machine& here, unsigned) {
    const SensorState& sensors = view.record.sim.sensors;
    const auto now = here.unix_us(view.record, view.record.sim.now_s);
    std::vector<nvml::ProcessUtilization> list;
    if (view.record.job.present && now > after_us) {
      list.push_back({static_cast<unsigned>(view.record.job.pid), now,
                      percent(sensors.shown_utilization), percent(sensors.shown_memory_utilization),
                      0, 0});
    }
    return give_list(list, count, out);
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetTemperature(nvml::Device device, int sensor, unsigned* out) {
  return look_at(__func__, device, [&](const GpuView& view, Machine&, unsigned) -> nvml::Return {
    if (sensor != nvml::kTemperatureGpu) return nvml::kInvalidArgument;
    return give(out, static_cast<unsigned>(std::max(celsius(view), 0)));
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetTemperatureV(nvml::Device device, nvml::Temperature* out) {
  return look_at(__func__, device, [&](const GpuView& view, Machine&, unsigned) -> nvml::Return {
    if (out == nullptr) return nvml::kInvalidArgument;
    if (out->version != nvml::kTemperatureVersion1) return nvml::kArgumentVersionMismatch;
    if (static_cast<int>(out->sensor) != nvml::kTemperatureGpu) return nvml::kInvalidArgument;
    out->celsius = celsius(view);
    return nvml::kSuccess;
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetTemperatureThreshold(nvml::Device device, int threshold,
                                                           unsigned* out) {
  return on_gpu(__func__, device, [&](Machine& here, unsigned gpu) -> nvml::Return {
    if (threshold < 0 || threshold >= nvml::kThresholds) return nvml::kInvalidArgument;
    const int slowdown =
        static_cast<int>(std::lround(here.constants(gpu).thermal.slowdown.value()));
    if (threshold == nvml::kThresholdSlowdown) return give(out, static_cast<unsigned>(slowdown));
    if (threshold != nvml::kThresholdShutdown) return nvml::kNotSupported;
    return give(out, static_cast<unsigned>(slowdown + kShutdownAboveSlowdown));
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetMemoryInfo(nvml::Device device, nvml::Memory1* out) {
  return look_at(__func__, device, [&](const GpuView& view, Machine& here, unsigned gpu) {
    const unsigned long long total = here.facts(gpu).memory_bytes;
    const auto used = std::min(total, used_memory(view) + kReservedMemory);
    return give(out, nvml::Memory1{total, total - used, used});
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetMemoryInfo_v2(nvml::Device device, nvml::Memory2* out) {
  return look_at(__func__, device,
                 [&](const GpuView& view, Machine& here, unsigned gpu) -> nvml::Return {
                   if (out == nullptr) return nvml::kInvalidArgument;
                   if (out->version != nvml::kMemoryVersion2) return nvml::kArgumentVersionMismatch;
                   const unsigned long long total = here.facts(gpu).memory_bytes;
                   const auto used = std::min(total - kReservedMemory, used_memory(view));
                   *out = nvml::Memory2{nvml::kMemoryVersion2, total, kReservedMemory,
                                        total - kReservedMemory - used, used};
                   return nvml::kSuccess;
                 });
}

NVML_EXPORT nvml::Return nvmlDeviceGetPersistenceMode(nvml::Device device, unsigned* out) {
  return look_at(__func__, device, [&](const GpuView& view, Machine&, unsigned) {
    return give(out, view.record.persistence ? 1U : 0U);
  });
}

NVML_EXPORT nvml::Return nvmlDeviceSetPersistenceMode(nvml::Device device, unsigned mode) {
  return set_on(__func__, device, [&](Machine& here, unsigned gpu) -> nvml::Return {
    if (mode > 1) return nvml::kInvalidArgument;
    const Result<void> done = here.set_persistence(gpu, mode == 1);
    return done ? nvml::kSuccess : code_of(done.error());
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetComputeMode(nvml::Device device, unsigned* out) {
  return fixed(__func__, device, out, 0);
}

// P0 with a job, P8 without one.
NVML_EXPORT nvml::Return nvmlDeviceGetPerformanceState(nvml::Device device, unsigned* out) {
  return look_at(__func__, device, [&](const GpuView& view, Machine&, unsigned) {
    return give(out, view.record.job.present ? 0U : 8U);
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetPowerState(nvml::Device device, unsigned* out) {
  return look_at(__func__, device, [&](const GpuView& view, Machine&, unsigned) {
    return give(out, view.record.job.present ? 0U : 8U);
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetVirtualizationMode(nvml::Device device, unsigned* out) {
  return fixed(__func__, device, out, nvml::kVirtualizationNone);
}

NVML_EXPORT nvml::Return nvmlDeviceGetDisplayMode(nvml::Device device, unsigned* out) {
  return fixed(__func__, device, out, 0);
}

NVML_EXPORT nvml::Return nvmlDeviceGetDisplayActive(nvml::Device device, unsigned* out) {
  return fixed(__func__, device, out, 0);
}

NVML_EXPORT nvml::Return nvmlDeviceIsMigDeviceHandle(nvml::Device device, unsigned* out) {
  return fixed(__func__, device, out, 0);
}

NVML_EXPORT nvml::Return nvmlDeviceGetComputeRunningProcesses(nvml::Device device, unsigned* count,
                                                              nvml::Process1* out) {
  return compute_processes(__func__, device, count, out);
}

NVML_EXPORT nvml::Return nvmlDeviceGetComputeRunningProcesses_v2(nvml::Device device,
                                                                 unsigned* count,
                                                                 nvml::Process2* out) {
  return compute_processes(__func__, device, count, out);
}

NVML_EXPORT nvml::Return nvmlDeviceGetComputeRunningProcesses_v3(nvml::Device device,
                                                                 unsigned* count,
                                                                 nvml::Process2* out) {
  return compute_processes(__func__, device, count, out);
}

// A simulated card has no graphics and no MPS clients.
#define NO_PROCESSES(function)                                                     \
  NVML_EXPORT nvml::Return function(nvml::Device device, unsigned* count, void*) { \
    return no_processes(__func__, device, count);                                  \
  }
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3)
#undef NO_PROCESSES
