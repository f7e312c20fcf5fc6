// SPDX-License-Identifier: Apache-2.0
//
// What a device of NVML can do, found out by reading alone: no setter is ever called to see whether
// it works.
#pragma once

#include "gpu/gpu.h"
#include "gpu/nvml/nvml_library.h"

namespace hypermile {

// Never fails: what the driver does not tell stays empty.
Capabilities probe_capabilities(const NvmlLibrary& library, nvml::Device device);

// As it is now; MIG and MPS come and go while a GPU is open.
ControlBarrier read_barrier(const NvmlLibrary& library, nvml::Device device);

}  // namespace hypermile
