// SPDX-License-Identifier: Apache-2.0
//
// Exported functions that find a GPU and identify it. Nothing here changes while a client runs.
#include <fmt/format.h>
#include <strings.h>

#include "gpu/pci_address.h"
#include "sim/stand_in/nvml_more_abi.h"
#include "sim/stand_in/stand_in.h"

using namespace hypermile;
using namespace hypermile::stand_in;

namespace {

nvml::Return count(const char* function, unsigned* out) {
  return on_machine(function, [&](Machine& here) { return give(out, here.gpu_count()); });
}

nvml::Return by_index(const char* function, unsigned index, nvml::Device* out) {
  return on_machine(function, [&](Machine& here) -> nvml::Return {
    if (index >= here.gpu_count()) return nvml::kInvalidArgument;
    return give(out, handle_of(index));
  });
}

// Finds the first GPU for which `is` holds.
template <class Is>
nvml::Return find(const char* function, const void* key, nvml::Device* out, Is is) {
  return on_machine(function, [&](Machine& here) -> nvml::Return {
    if (key == nullptr || out == nullptr) return nvml::kInvalidArgument;
    for (unsigned i = 0; i < here.gpu_count(); ++i) {
      if (is(here.facts(i))) return give(out, handle_of(i));
    }
    return nvml::kNotFound;
  });
}

std::string bus_id(const GpuFacts& facts) {
  return fmt::format("00000000:{:02X}:00.0", facts.bus);
}

nvml::Return by_pci(const char* function, const char* text, nvml::Device* out) {
  return find(function, text, out, [&](const GpuFacts& facts) {
    const auto asked = parse_pci_address(text);
    return asked && *asked == *parse_pci_address(bus_id(facts));
  });
}

// Every version of the struct begins with these members.
template <class Info>
nvml::Return pci_info(const char* function, nvml::Device device, Info* out) {
  return on_gpu(function, device, [&](Machine& here, unsigned gpu) -> nvml::Return {
    if (out == nullptr) return nvml::kInvalidArgument;
    const GpuFacts& facts = here.facts(gpu);
    *out = Info{};
    out->bus = facts.bus;
    out->device_id = facts.pci_device_id;
    if constexpr (std::is_same_v<Info, nvml::PciInfo>) {
      fmt::format_to_n(out->bus_id_legacy, 15, "0000:{:02X}:00.0", facts.bus);
      bus_id(facts).copy(out->bus_id, sizeof out->bus_id - 1);
    } else {
      fmt::format_to_n(out->bus_id, 15, "0000:{:02X}:00.0", facts.bus);
    }
    return nvml::kSuccess;
  });
}

template <class Member>
nvml::Return fact(const char* function, nvml::Device device, unsigned* out,
                  Member GpuFacts::*member) {
  return on_gpu(function, device, [&](Machine& here, unsigned gpu) {
    return give(out, static_cast<unsigned>(here.facts(gpu).*member));
  });
}

}  // namespace

NVML_EXPORT nvml::Return nvmlDeviceGetCount(unsigned* out) {
  return count(__func__, out);
}

NVML_EXPORT nvml::Return nvmlDeviceGetCount_v2(unsigned* out) {
  return count(__func__, out);
}

NVML_EXPORT nvml::Return nvmlDeviceGetHandleByIndex(unsigned index, nvml::Device* out) {
  return by_index(__func__, index, out);
}

NVML_EXPORT nvml::Return nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml::Device* out) {
  return by_index(__func__, index, out);
}

NVML_EXPORT nvml::Return nvmlDeviceGetHandleByUUID(const char* uuid, nvml::Device* out) {
  return find(__func__, uuid, out,
              [&](const GpuFacts& facts) { return strcasecmp(uuid, facts.uuid) == 0; });
}

NVML_EXPORT nvml::Return nvmlDeviceGetHandleByUUIDV(const nvml::Uuid* uuid, nvml::Device* out) {
  if (uuid != nullptr && uuid->version != nvml::kUuidVersion1)
    return nvml::kArgumentVersionMismatch;
  if (uuid != nullptr && uuid->type != 1) return nvml::kNotSupported;
  return find(__func__, uuid, out, [&](const GpuFacts& facts) {
    return strncasecmp(uuid->text, facts.uuid, sizeof uuid->text) == 0;
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetHandleBySerial(const char* serial, nvml::Device* out) {
  return find(__func__, serial, out,
              [&](const GpuFacts& facts) { return std::string_view(serial) == facts.serial; });
}

NVML_EXPORT nvml::Return nvmlDeviceGetHandleByPciBusId(const char* text, nvml::Device* out) {
  return by_pci(__func__, text, out);
}

NVML_EXPORT nvml::Return nvmlDeviceGetHandleByPciBusId_v2(const char* text, nvml::Device* out) {
  return by_pci(__func__, text, out);
}

NVML_EXPORT nvml::Return nvmlDeviceGetName(nvml::Device device, char* name, unsigned length) {
  return on_gpu(__func__, device, [&](Machine& here, unsigned gpu) {
    return give_text(here.facts(gpu).name, name, length);
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetUUID(nvml::Device device, char* uuid, unsigned length) {
  return on_gpu(__func__, device, [&](Machine& here, unsigned gpu) {
    return give_text(here.facts(gpu).uuid, uuid, length);
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetSerial(nvml::Device device, char* serial, unsigned length) {
  return on_gpu(__func__, device, [&](Machine& here, unsigned gpu) {
    return give_text(here.facts(gpu).serial, serial, length);
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetIndex(nvml::Device device, unsigned* index) {
  return on_gpu(__func__, device, [&](Machine&, unsigned gpu) { return give(index, gpu); });
}

NVML_EXPORT nvml::Return nvmlDeviceGetMinorNumber(nvml::Device device, unsigned* minor) {
  return on_gpu(__func__, device, [&](Machine&, unsigned gpu) { return give(minor, gpu); });
}

NVML_EXPORT nvml::Return nvmlDeviceGetBoardId(nvml::Device device, unsigned* board) {
  return on_gpu(__func__, device,
                [&](Machine& here, unsigned gpu) { return give(board, here.facts(gpu).bus << 8); });
}

NVML_EXPORT nvml::Return nvmlDeviceGetMultiGpuBoard(nvml::Device device, unsigned* multiple) {
  return on_gpu(__func__, device, [&](Machine&, unsigned) { return give(multiple, 0U); });
}

NVML_EXPORT nvml::Return nvmlDeviceGetPciInfo(nvml::Device device, nvml::PciInfo2* out) {
  return pci_info(__func__, device, out);
}

NVML_EXPORT nvml::Return nvmlDeviceGetPciInfo_v2(nvml::Device device, nvml::PciInfo2* out) {
  return pci_info(__func__, device, out);
}

NVML_EXPORT nvml::Return nvmlDeviceGetPciInfo_v3(nvml::Device device, nvml::PciInfo* out) {
  return pci_info(__func__, device, out);
}

NVML_EXPORT nvml::Return nvmlDeviceGetPciInfoExt(nvml::Device device, nvml::PciInfoExt* out) {
  return on_gpu(__func__, device, [&](Machine& here, unsigned gpu) -> nvml::Return {
    if (out == nullptr) return nvml::kInvalidArgument;
    if (out->version != nvml::kPciInfoExtVersion1) return nvml::kArgumentVersionMismatch;
    const GpuFacts& facts = here.facts(gpu);
    *out = nvml::PciInfoExt{};
    out->version = nvml::kPciInfoExtVersion1;
    out->bus = facts.bus;
    out->device_id = facts.pci_device_id;
    out->base_class = nvml::kPciClassDisplay;
    bus_id(facts).copy(out->bus_id, sizeof out->bus_id - 1);
    return nvml::kSuccess;
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetArchitecture(nvml::Device device, unsigned* out) {
  return fact(__func__, device, out, &GpuFacts::architecture);
}

NVML_EXPORT nvml::Return nvmlDeviceGetNumGpuCores(nvml::Device device, unsigned* out) {
  return fact(__func__, device, out, &GpuFacts::cores);
}

NVML_EXPORT nvml::Return nvmlDeviceGetCudaComputeCapability(nvml::Device device, int* major,
                                                            int* minor) {
  return on_gpu(__func__, device, [&](Machine& here, unsigned gpu) -> nvml::Return {
    if (major == nullptr) return nvml::kInvalidArgument;
    *major = here.facts(gpu).compute_major;
    return give(minor, static_cast<int>(here.facts(gpu).compute_minor));
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetBrand(nvml::Device device, unsigned* brand) {
  return on_gpu(__func__, device, [&](Machine& here, unsigned gpu) {
    const std::string_view name = here.facts(gpu).name;
    if (name.find("GeForce") != name.npos) return give(brand, nvml::kBrandGeForce);
    if (name.find("RTX") != name.npos) return give(brand, nvml::kBrandNvidiaRtx);
    return give(brand, nvml::kBrandNvidia);
  });
}
