// SPDX-License-Identifier: Apache-2.0
//
// Parses what people give to --gpu, and finds the GPU that it names. Pure functions; errors are
// kUsage and list what would be right.
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
  std::string text;  // "GPU-…", complete or its beginning
  bool operator==(const GpuUuidPrefix&) const = default;
};
struct SimulatedGpu {
  std::string model;  // "h200"; only the simulator knows whether such a model exists
  bool operator==(const SimulatedGpu&) const = default;
};
struct ReplayedGpu {
  std::string file;  // "F.csv", or "F.csv@15MHz" to interpolate
  // "gpu/workload[/phase]"; a workload may contain slashes, so only the sweep can split it.
  std::string curve;
  bool operator==(const ReplayedGpu&) const = default;
};

using GpuName = std::variant<GpuIndex, GpuUuidPrefix, PciAddress, SimulatedGpu, ReplayedGpu>;

// "0", "GPU-8c5e…", "3b:00.0", "sim:h200", "replay:FILE#gpu/workload[/phase]".
Result<GpuName> parse_gpu_name(std::string_view text);
std::string to_string(const GpuName& name);

// The one GPU of `known` that `name` means. kUsage when no GPU matches (the error names the
// nearest), when a prefix matches several, and for a simulated or replayed GPU.
Result<GpuIdentity> resolve_gpu(const GpuName& name, std::span<const GpuIdentity> known);

// The only GPU whose UUID begins with `prefix` (case is ignored); nullptr if none or several do.
const GpuIdentity* find_by_uuid_prefix(std::string_view prefix, std::span<const GpuIdentity> known);

}  // namespace hypermile
