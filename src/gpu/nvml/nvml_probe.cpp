// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/nvml_probe.h"

#include <algorithm>
#include <functional>

#include "gpu/nvml/nvml_processes.h"
#include "gpu/nvml/nvml_values.h"
#include "gpu/nvml/process_permission.h"

namespace hypermile {
namespace {

constexpr unsigned kMostClocks = 4096;  // a longer list is assumed to be garbage

// NVML promises no order for clock lists, and reports their length only if the buffer is too short.
template <class Query>
std::vector<Mhz> read_clocks(Query query) {
  unsigned count = 256;
  std::vector<unsigned> raw;
  nvml::Return code = nvml::kInsufficientSize;
  for (int attempt = 0; attempt < 3 && code == nvml::kInsufficientSize; ++attempt) {
    if (count > kMostClocks) return {};
    raw.assign(count, 0);
    code = query(&count, raw.data());
  }
  if (code != nvml::kSuccess || count > raw.size()) return {};
  std::vector<Mhz> clocks;
  for (unsigned i = 0; i < count; ++i) {
    if (const auto mhz = clock_of(raw[i])) clocks.push_back(*mhz);
  }
  std::sort(clocks.begin(), clocks.end(), std::greater<>());
  clocks.erase(std::unique(clocks.begin(), clocks.end()), clocks.end());
  return clocks;
}

std::optional<Watts> read_limit(nvml::Return (*query)(nvml::Device, unsigned*),
                                nvml::Device device) {
  unsigned milliwatts = 0;
  if (nvml::call(query, device, &milliwatts) != nvml::kSuccess) return std::nullopt;
  return power_of(milliwatts, power_ceiling(std::nullopt));
}

std::optional<Range> read_limit_range(const nvml::Functions& f, nvml::Device device) {
  unsigned low = 0;
  unsigned high = 0;
  if (nvml::call(f.power_limit_constraints, device, &low, &high) != nvml::kSuccess ||
      low == nvml::kNotAvailable32 || high == nvml::kNotAvailable32 || high == 0 || low > high) {
    return std::nullopt;
  }
  return Range{Watts(low / 1000.0), Watts(high / 1000.0)};
}

// Volta introduced SM clock locks, Ampere memory clock locks.
Support lock_support(const nvml::Functions& f, nvml::Device device, bool has_functions,
                     bool has_clocks, unsigned since) {
  if (!has_functions || !has_clocks) return Support::kNo;
  unsigned architecture = 0;
  if (nvml::call(f.architecture, device, &architecture) != nvml::kSuccess ||
      architecture == nvml::kNotAvailable32) {
    return Support::kUnknown;
  }
  return architecture >= since ? Support::kYes : Support::kNo;
}

bool may_set(const nvml::Functions& f) {
  if (read_only_mode()) return false;
  return f.stand_in_may_set != nullptr ? f.stand_in_may_set() != 0 : process_is_admin();
}

}  // namespace

ControlBarrier read_barrier(const NvmlLibrary& library, nvml::Device device) {
  const nvml::Functions& f = library.functions();
  unsigned mig = 0;
  unsigned pending = 0;
  if (nvml::call(f.mig_mode, device, &mig, &pending) == nvml::kSuccess &&
      mig == nvml::kMigEnabled) {
    return ControlBarrier::kMigEnabled;
  }
  nvml::VirtualizationMode mode = nvml::kVirtualizationNone;
  if (nvml::call(f.virtualization_mode, device, &mode) == nvml::kSuccess &&
      mode != nvml::kVirtualizationNone && mode != nvml::kVirtualizationPassthrough) {
    return ControlBarrier::kVirtualGpu;
  }
  const auto clients = read_mps_clients(library, device);
  return clients && !clients->empty() ? ControlBarrier::kSharedByMps : ControlBarrier::kNone;
}

Capabilities probe_capabilities(const NvmlLibrary& library, nvml::Device device) {
  const nvml::Functions& f = library.functions();
  const NvmlSetters& setters = library.setters();
  Capabilities can;
  can.memory_clocks = read_clocks([&](unsigned* count, unsigned* out) {
    return nvml::call(f.memory_clocks, device, count, out);
  });
  if (!can.memory_clocks.empty()) {
    const auto highest = static_cast<unsigned>(can.memory_clocks.front().value());
    can.sm_clocks = read_clocks([&](unsigned* count, unsigned* out) {
      return nvml::call(f.graphics_clocks, device, highest, count, out);
    });
  }
  can.power_limit_range = read_limit_range(f, device);
  can.default_power_limit = read_limit(f.power_limit_default, device);
  can.current_power_limit = read_limit(f.power_limit, device);
  can.sm_clock_lock = lock_support(f, device, setters.can_lock_sm(), !can.sm_clocks.empty(),
                                   nvml::kArchitectureVolta);
  can.memory_clock_lock = lock_support(f, device, setters.can_lock_memory(),
                                       !can.memory_clocks.empty(), nvml::kArchitectureAmpere);
  const bool limit_moves =
      can.power_limit_range && can.power_limit_range->min < can.power_limit_range->max;
  can.power_limit_set = setters.can_set_power_limit() && limit_moves ? Support::kYes : Support::kNo;
  can.may_set = may_set(f);
  can.barrier = read_barrier(library, device);
  nvml::GpmSupport gpm{.version = nvml::kGpmSupportVersion1, .supported = 0};
  can.activity_metrics =
      nvml::call(f.gpm_support, device, &gpm) == nvml::kSuccess && gpm.supported != 0;
  return can;
}

}  // namespace hypermile
