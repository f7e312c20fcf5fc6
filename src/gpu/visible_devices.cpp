// SPDX-License-Identifier: Apache-2.0
#include "gpu/visible_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "gpu/gpu_name.h"

namespace hypermile {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

std::vector<std::string_view> entries_of(std::string_view list) {
  std::vector<std::string_view> entries;
  for (;;) {
    const std::size_t comma = list.find(',');
    entries.push_back(trimmed(list.substr(0, comma)));
    if (comma == list.npos) return entries;
    list.remove_prefix(comma + 1);
  }
}

// CUDA reads the leading digits of an entry and ignores the rest: "1gpu" means 1.
std::optional<std::size_t> leading_number(std::string_view entry) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), value);
  if (error != std::errc() || end == entry.data()) return std::nullopt;
  return value;
}

enum class Form { kNumbers, kUuids, kMig };

// The first entry decides how CUDA reads all entries.
Form form_of(std::string_view first) {
  if (first.starts_with("MIG-")) return Form::kMig;
  return first.starts_with("GPU-") ? Form::kUuids : Form::kNumbers;
}

const GpuIdentity* find(Form form, std::string_view entry, std::span<const GpuIdentity> all) {
  if (form == Form::kUuids) {
    return entry.starts_with("GPU-") ? find_by_uuid_prefix(entry, all) : nullptr;
  }
  const auto number = leading_number(entry);
  return number && *number < all.size() ? &all[*number] : nullptr;
}

void read_mig(std::span<const std::string_view> entries, VisibleDevices& visible) {
  for (const std::string_view entry : entries) {
    if (!entry.starts_with("MIG-")) {
      visible.notes.push_back(fmt::format("CUDA ignores '{}' and all later entries", entry));
      return;
    }
    visible.mig_instances.emplace_back(entry);
  }
  visible.notes.emplace_back("MIG instances share their GPU's clocks, so the GPU is only observed");
}

void read_gpus(Form form, std::span<const std::string_view> entries,
               std::span<const GpuIdentity> all, VisibleDevices& visible) {
  std::set<GpuUuid> seen;
  for (const std::string_view entry : entries) {
    const GpuIdentity* gpu = find(form, entry, all);
    if (gpu == nullptr) {
      if (entry != "-1") {
        visible.notes.push_back(
            fmt::format("there is no GPU '{}': CUDA ignores it and all later entries", entry));
      }
      return;
    }
    if (!seen.insert(gpu->uuid).second) {
      visible.gpus.clear();
      visible.notes.push_back(
          fmt::format("CUDA_VISIBLE_DEVICES names '{}' twice: CUDA then shows no GPU", entry));
      return;
    }
    visible.gpus.push_back(*gpu);
  }
}

std::optional<std::string> ambiguity_of(std::optional<std::string_view> order,
                                        std::span<const GpuIdentity> all) {
  const bool same_model = std::all_of(
      all.begin(), all.end(), [&](const GpuIdentity& gpu) { return gpu.name == all.front().name; });
  if (same_model || order == "PCI_BUS_ID") return std::nullopt;
  return "GPUs of different models are present and CUDA numbers the fastest first; set "
         "CUDA_DEVICE_ORDER=PCI_BUS_ID or name GPUs by UUID";
}

}  // namespace

VisibleDevices visible_devices(std::optional<std::string_view> cuda_visible_devices,
                               std::optional<std::string_view> cuda_device_order,
                               std::span<const GpuIdentity> all) {
  VisibleDevices visible;
  if (!cuda_visible_devices) {
    visible.gpus.assign(all.begin(), all.end());
    visible.ambiguity = ambiguity_of(cuda_device_order, all);
    return visible;
  }
  const std::vector<std::string_view> entries = entries_of(*cuda_visible_devices);
  if (entries.size() == 1 && entries[0].empty()) {
    visible.notes.emplace_back("CUDA_VISIBLE_DEVICES is empty: CUDA shows no GPU");
    return visible;
  }
  const Form form = form_of(entries[0]);
  if (form == Form::kMig) {
    read_mig(entries, visible);
    return visible;
  }
  read_gpus(form, entries, all, visible);
  if (form == Form::kNumbers && !visible.gpus.empty()) {
    visible.ambiguity = ambiguity_of(cuda_device_order, all);
  }
  return visible;
}

}  // namespace hypermile
