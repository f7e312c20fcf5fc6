// SPDX-License-Identifier: Apache-2.0
//
// Which GPUs a CUDA job will see: interprets CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER as CUDA
// does. Used before a job starts, and with the environment of a running job. Cannot fail: what CUDA
// would ignore is ignored here and noted.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/gpu.h"

namespace hypermile {

struct VisibleDevices {
  std::vector<GpuIdentity> gpus;           // in the job's order: its device 0 first
  std::vector<std::string> mig_instances;  // as written; they can be observed but not controlled
  // Set if CUDA's numbers may mean other GPUs than assumed here: with cards of different models
  // CUDA numbers the fastest first. The text explains this and how to avoid it.
  std::optional<std::string> ambiguity;
  std::vector<std::string> notes;  // what CUDA ignores, one line each
};

// nullopt stands for an unset variable. `all` is in PCI bus order, as NVML lists GPUs.
VisibleDevices visible_devices(std::optional<std::string_view> cuda_visible_devices,
                               std::optional<std::string_view> cuda_device_order,
                               std::span<const GpuIdentity> all);

}  // namespace hypermile
