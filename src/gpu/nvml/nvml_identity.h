// SPDX-License-Identifier: Apache-2.0
//
// Reads a card's identity from NVML, and finds the card with a given UUID. May block, like all of
// NVML.
#pragma once

#include "base/result.h"
#include "gpu/gpu.h"
#include "gpu/nvml/nvml_library.h"

namespace hypermile {

// Fails if the UUID cannot be read, because without it nothing can be restored safely. Any other
// missing part stays empty.
Result<GpuIdentity> read_identity(const NvmlLibrary& library, nvml::Device device);

// kNotFound lists the GPUs of this machine.
Result<nvml::Device> find_device(const NvmlLibrary& library, const GpuUuid& uuid);

}  // namespace hypermile
