// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/nvml_identity.h"

#include <fmt/format.h>

#include "base/nearest.h"
#include "gpu/nvml/nvml_error.h"

namespace hypermile {
namespace {

constexpr unsigned kTextSize = 96;  // the largest size that NVML documents for a name or UUID

Error unknown_uuid(const NvmlLibrary& library, const GpuUuid& uuid) {
  std::vector<std::string> known;
  if (const Result<GpuList> list = list_gpus(library)) {
    for (const GpuIdentity& gpu : list->gpus) known.push_back(gpu.uuid.text());
  }
  return Error{ErrorCode::kNotFound, fmt::format("no GPU has the UUID {}", uuid.text()),
               suggestion(uuid.text(), known)};
}

}  // namespace

Result<GpuIdentity> read_identity(const NvmlLibrary& library, nvml::Device device) {
  const nvml::Functions& f = library.functions();
  GpuIdentity identity;
  identity.driver_version = library.driver_version();
  if (f.stand_in_may_set != nullptr) identity.driver_version += kStandInMark;

  // One byte more than NVML is given, so the text always ends in a zero.
  char text[kTextSize + 1] = {};
  if (const nvml::Return code = f.device_uuid(device, text, kTextSize); code != nvml::kSuccess) {
    return nvml_error(code, "read its UUID");
  }
  identity.uuid = GpuUuid(text);

  char name[kTextSize + 1] = {};
  if (nvml::call(f.device_name, device, name, kTextSize) == nvml::kSuccess) identity.name = name;
  nvml::PciInfo pci{};
  if (nvml::call(f.device_pci, device, &pci) == nvml::kSuccess) {
    identity.pci =
        PciAddress(fmt::format("{:08X}:{:02X}:{:02X}.0", pci.domain, pci.bus, pci.device));
  }
  unsigned index = 0;
  if (nvml::call(f.device_index, device, &index) == nvml::kSuccess) {
    identity.index = static_cast<int>(index);
  }
  return identity;
}

Result<nvml::Device> find_device(const NvmlLibrary& library, const GpuUuid& uuid) {
  const nvml::Functions& f = library.functions();
  nvml::Device device = nullptr;
  const nvml::Return code = nvml::call(f.device_by_uuid, uuid.text().c_str(), &device);
  if (code == nvml::kSuccess) return device;
  if (code == nvml::kNotFound || code == nvml::kInvalidArgument) {
    return unknown_uuid(library, uuid);
  }
  return nvml_error(code, fmt::format("open GPU {}", uuid.text()));
}

}  // namespace hypermile
