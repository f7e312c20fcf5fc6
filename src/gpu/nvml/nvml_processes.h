// SPDX-License-Identifier: Apache-2.0
//
// Lists the processes that use a GPU, in whichever of NVML's three layouts the driver fills.
#pragma once

#include <vector>

#include "gpu/gpu.h"
#include "gpu/nvml/nvml_library.h"

namespace hypermile {

Result<std::vector<GpuProcess>> read_compute_processes(const NvmlLibrary& library,
                                                       nvml::Device device);
// Clients of the multi-process service on this GPU.
Result<std::vector<GpuProcess>> read_mps_clients(const NvmlLibrary& library, nvml::Device device);

}  // namespace hypermile
