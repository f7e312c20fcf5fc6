// SPDX-License-Identifier: Apache-2.0
//
// Who a device of NVML is, and finding the device of a known UUID.
#pragma once

#include "base/result.h"
#include "gpu/gpu.h"
#include "gpu/nvml/nvml_library.h"

namespace hypermile {

// Fails where the UUID cannot be read: without it nothing can be restored safely. Everything else
// that the driver does not tell stays empty.
Result<GpuIdentity> read_identity(const NvmlLibrary& library, nvml::Device device);

// kNotFound names the GPUs there are.
Result<nvml::Device> find_device(const NvmlLibrary& library, const GpuUuid& uuid);

}  // namespace hypermile
