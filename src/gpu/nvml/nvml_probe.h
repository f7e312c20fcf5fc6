// SPDX-License-Identifier: Apache-2.0
//
// Finds out what a card can do, by reading only: no setter is called to see whether it works.
#pragma once

#include "gpu/gpu.h"
#include "gpu/nvml/nvml_library.h"

namespace hypermile {

// Never fails: what the driver does not report stays empty.
Capabilities probe_capabilities(const NvmlLibrary& library, nvml::Device device);

// The barrier as it is now. MIG and MPS can be switched while a GPU is open.
ControlBarrier read_barrier(const NvmlLibrary& library, nvml::Device device);

}  // namespace hypermile
