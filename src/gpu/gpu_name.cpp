// SPDX-License-Identifier: Apache-2.0
#include "gpu/gpu_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <vector>

#include "base/nearest.h"
#include "base/parse.h"
#include "gpu/pci_address.h"

namespace hypermile {
namespace {

constexpr std::string_view kSimulated = "sim:";
constexpr std::string_view kReplayed = "replay:";

bool begins_with(std::string_view text, std::string_view prefix) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), same);
}

Error not_a_name(std::string_view text) {
  return Error{ErrorCode::kUsage, fmt::format("'{}' does not name a GPU", text),
               "give an index (0), a UUID (GPU-…), a PCI address (3b:00.0), sim:NAME or "
               "replay:FILE#gpu/workload"};
}

Result<GpuName> parse_replayed(std::string_view text) {
  const std::string_view rest = text.substr(kReplayed.size());
  const Error error{ErrorCode::kUsage, fmt::format("'{}' does not name a replayed GPU", text),
                    "write it as replay:FILE#gpu/workload or replay:FILE#gpu/workload/phase"};
  // Folders and workloads may contain '#', so the split is at the first '#' after ".csv".
  const std::size_t csv = rest.find(".csv");
  const std::size_t hash = rest.find('#', csv == rest.npos ? 0 : csv);
  if (hash == rest.npos || hash == 0) return error;
  const std::string_view curve = rest.substr(hash + 1);
  const std::size_t slash = curve.find('/');
  if (slash == curve.npos || slash == 0 || curve.ends_with('/')) return error;
  return GpuName(ReplayedGpu{std::string(rest.substr(0, hash)), std::string(curve)});
}

Error unknown(const GpuName& name, std::span<const GpuIdentity> known) {
  std::vector<std::string> names;
  for (const GpuIdentity& gpu : known) {
    if (std::holds_alternative<GpuIndex>(name)) {
      if (gpu.index) names.push_back(std::to_string(*gpu.index));
    } else {
      names.push_back(std::holds_alternative<PciAddress>(name) ? gpu.pci.text() : gpu.uuid.text());
    }
  }
  return Error{ErrorCode::kUsage, fmt::format("there is no GPU {}", to_string(name)),
               names.empty() ? "this machine has no GPU; replay:FILE#gpu/workload needs none"
                             : suggestion(to_string(name), names)};
}

Result<GpuIdentity> resolve_uuid(const GpuUuidPrefix& prefix, std::span<const GpuIdentity> known) {
  if (const GpuIdentity* gpu = find_by_uuid_prefix(prefix.text, known)) return *gpu;
  const bool any = std::any_of(known.begin(), known.end(), [&](const GpuIdentity& gpu) {
    return begins_with(gpu.uuid.text(), prefix.text);
  });
  if (!any) return unknown(prefix, known);
  return Error{ErrorCode::kUsage,
               fmt::format("several GPUs have UUIDs that begin with {}", prefix.text),
               "give more of the UUID"};
}

}  // namespace

const GpuIdentity* find_by_uuid_prefix(std::string_view prefix,
                                       std::span<const GpuIdentity> known) {
  const GpuIdentity* found = nullptr;
  for (const GpuIdentity& gpu : known) {
    if (!begins_with(gpu.uuid.text(), prefix)) continue;
    if (gpu.uuid.text().size() == prefix.size()) return &gpu;
    if (found != nullptr) return nullptr;
    found = &gpu;
  }
  return found;
}

Result<GpuName> parse_gpu_name(std::string_view text) {
  if (text.starts_with(kSimulated)) {
    const std::string_view model = text.substr(kSimulated.size());
    if (model.empty()) return not_a_name(text);
    return GpuName(SimulatedGpu{std::string(model)});
  }
  if (text.starts_with(kReplayed)) return parse_replayed(text);
  if (begins_with(text, "MIG-")) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("'{}' is a MIG instance: its clocks belong to the whole GPU", text),
                 "name the GPU itself to observe it"};
  }
  if (begins_with(text, "GPU-") && text.size() > 4) {
    return GpuName(GpuUuidPrefix{std::string(text)});
  }
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  if (digits) {
    const Result<long long> index = parse_integer(text);
    if (!index || *index > std::numeric_limits<int>::max()) return not_a_name(text);
    return GpuName(GpuIndex{static_cast<int>(*index)});
  }
  if (const Result<PciAddress> address = parse_pci_address(text)) return GpuName(*address);
  return not_a_name(text);
}

std::string to_string(const GpuName& name) {
  struct Writer {
    std::string operator()(const GpuIndex& index) const { return std::to_string(index.value); }
    std::string operator()(const GpuUuidPrefix& uuid) const { return uuid.text; }
    std::string operator()(const PciAddress& pci) const { return pci.text(); }
    std::string operator()(const SimulatedGpu& gpu) const {
      return std::string(kSimulated) + gpu.model;
    }
    std::string operator()(const ReplayedGpu& gpu) const {
      return fmt::format("{}{}#{}", kReplayed, gpu.file, gpu.curve);
    }
  };
  return std::visit(Writer{}, name);
}

Result<GpuIdentity> resolve_gpu(const GpuName& name, std::span<const GpuIdentity> known) {
  if (const auto* prefix = std::get_if<GpuUuidPrefix>(&name)) return resolve_uuid(*prefix, known);
  for (const GpuIdentity& gpu : known) {
    if (const auto* index = std::get_if<GpuIndex>(&name); index && gpu.index == index->value) {
      return gpu;
    }
    if (const auto* pci = std::get_if<PciAddress>(&name); pci && gpu.pci == *pci) return gpu;
  }
  if (std::holds_alternative<SimulatedGpu>(name) || std::holds_alternative<ReplayedGpu>(name)) {
    return Error{ErrorCode::kUsage, fmt::format("{} is not a GPU of this machine", to_string(name)),
                 "give an index, a UUID or a PCI address"};
  }
  return unknown(name, known);
}

}  // namespace hypermile
