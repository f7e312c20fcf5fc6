// SPDX-License-Identifier: Apache-2.0
//
// What people type for --gpu, and which GPU it means.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/identifiers.h"
#include "base/result.h"
#include "gpu/gpu.h"

namespace hypermile {

struct GpuIndex {
  int value = 0;
  bool operator==(const GpuIndex&) const = default;
};
struct GpuUuidPrefix {
  std::string text;  // "GPU-…", the whole or its beginning
  bool operator==(const GpuUuidPrefix&) const = default;
};
struct SimulatedGpu {
  std::string model;  // "h200"; whether there is such a sheet only the simulator knows
  bool operator==(const SimulatedGpu&) const = default;
};
struct ReplayedGpu {
  std::string file;  // "F.csv", or "F.csv@15MHz" to interpolate
  std::string
      curve;  // "gpu/workload[/phase]"; workloads may hold slashes, so only the sweep can tell
  bool operator==(const ReplayedGpu&) const = default;
};

using GpuName = std::variant<GpuIndex, GpuUuidPrefix, PciAddress, SimulatedGpu, ReplayedGpu>;

// "0", "GPU-8c5e…", "3b:00.0", "sim:h200", "replay:FILE#gpu/workload[/phase]".
Result<GpuName> parse_gpu_name(std::string_view text);
std::string to_string(const GpuName& name);

// The one GPU of `known` that `name` means. kUsage names the nearest there are, and answers a
// prefix of several, or a simulated or replayed GPU.
Result<GpuIdentity> resolve_gpu(const GpuName& name, std::span<const GpuIdentity> known);

// The one whose UUID begins with `prefix`, in any case; nullptr for none, and for several.
const GpuIdentity* find_by_uuid_prefix(std::string_view prefix, std::span<const GpuIdentity> known);

}  // namespace hypermile
