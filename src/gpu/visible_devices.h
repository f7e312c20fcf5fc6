// SPDX-License-Identifier: Apache-2.0
//
// Which GPUs a CUDA job will see, from CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER as CUDA itself
// reads them. Called before a job is started or for the environment of one that runs. Cannot fail:
// whatever CUDA would ignore is ignored here, and said.
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
  std::vector<std::string> mig_instances;  // as written; they can be observed, never controlled
  // The numbers of CUDA may mean other GPUs than assumed here, because cards of different models
  // are present and CUDA sorts the fastest first; the text says so and how to settle it.
  std::optional<std::string> ambiguity;
  std::vector<std::string> notes;  // what CUDA ignores, one line each
};

// nullopt for a variable that is not set. `all` in the order of the PCI bus, as NVML lists them.
VisibleDevices visible_devices(std::optional<std::string_view> cuda_visible_devices,
                               std::optional<std::string_view> cuda_device_order,
                               std::span<const GpuIdentity> all);

}  // namespace hypermile
