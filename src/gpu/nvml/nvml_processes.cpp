// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/nvml_processes.h"

#include <cstdio>
#include <cstring>

#include "gpu/nvml/nvml_error.h"

namespace hypermile {
namespace {

constexpr unsigned kMostProcesses = 65'536;

using Query = nvml::Return (*)(nvml::Device, unsigned*, void*);

// Drivers 535.43 to 535.86 fill a longer struct under the same function name.
std::size_t actual_stride(std::size_t stride, const std::string& driver) {
  unsigned major = 0;
  unsigned minor = 0;
  if (stride == nvml::kProcessStride2 &&
      std::sscanf(driver.c_str(), "%u.%u", &major, &minor) == 2 && major == 535 && minor < 98) {
    return nvml::kProcessStride535;
  }
  return stride;
}

Result<std::vector<GpuProcess>> read_list(Query query, std::size_t stride, nvml::Device device) {
  std::vector<std::byte> buffer;
  unsigned count = 32;
  nvml::Return code = nvml::kInsufficientSize;
  // Processes start and end between two calls, so leave room and try again.
  for (int attempt = 0; attempt < 4 && code == nvml::kInsufficientSize; ++attempt) {
    if (count > kMostProcesses) break;
    count += count / 2;
    // Room for the longest layout in any case, so that a wrong guess of the layout cannot overrun.
    buffer.assign(count * nvml::kProcessStride535, std::byte{0});
    code = nvml::call(query, device, &count, static_cast<void*>(buffer.data()));
  }
  if (code != nvml::kSuccess) return nvml_error(code, "list the processes on the GPU");

  std::vector<GpuProcess> processes;
  for (std::size_t i = 0; i < count && (i + 1) * stride <= buffer.size(); ++i) {
    nvml::ProcessHead head{};
    std::memcpy(&head, buffer.data() + i * stride, sizeof head);
    GpuProcess process;
    process.pid = head.pid;
    if (head.used_memory != nvml::kNotAvailable64) process.memory_bytes = head.used_memory;
    processes.push_back(process);
  }
  return processes;
}

}  // namespace

Result<std::vector<GpuProcess>> read_compute_processes(const NvmlLibrary& library,
                                                       nvml::Device device) {
  const nvml::Functions& f = library.functions();
  return read_list(f.compute_processes,
                   actual_stride(f.compute_process_stride, library.driver_version()), device);
}

Result<std::vector<GpuProcess>> read_mps_clients(const NvmlLibrary& library, nvml::Device device) {
  const nvml::Functions& f = library.functions();
  return read_list(f.mps_processes, actual_stride(f.mps_process_stride, library.driver_version()),
                   device);
}

}  // namespace hypermile
