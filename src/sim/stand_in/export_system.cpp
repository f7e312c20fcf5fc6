// SPDX-License-Identifier: Apache-2.0
//
// Exported functions of the whole library: start, end, versions, error texts.
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "sim/stand_in/nvml_more_abi.h"
#include "sim/stand_in/stand_in.h"

using namespace hypermile;
using namespace hypermile::stand_in;

namespace {

constexpr std::string_view kDriverVersion = "580.95.05";
constexpr std::string_view kNvmlVersion = "13.580.95.05";

constexpr const char* kErrors[] = {
    "Success",
    "Uninitialized",
    "Invalid Argument",
    "Not Supported",
    "Insufficient Permissions",
    "Already Initialized",
    "Not Found",
    "Insufficient Size",
    "Insufficient External Power",
    "Driver Not Loaded",
    "Timeout",
    "Interrupt Request Issue",
    "NVML Shared Library Not Found",
    "Function Not Found",
    "Corrupted infoROM",
    "GPU is lost",
    "GPU requires reset",
    "GPU access blocked by the operating system",
    "Driver/library version mismatch",
    "In use by another client",
    "Insufficient Memory",
    "No data",
    "The requested vgpu operation is not available on target device, because ECC is enabled",
    "Insufficient Resources",
    "Frequency Not Supported",
    "Argument Version Mismatch",
    "Deprecated",
    "Not Ready",
    "GPU Not Found",
    "Invalid State",
};

}  // namespace

NVML_EXPORT nvml::Return nvmlInit() {
  return initialise(__func__);
}

NVML_EXPORT nvml::Return nvmlInit_v2() {
  return initialise(__func__);
}

NVML_EXPORT nvml::Return nvmlInitWithFlags(unsigned) {
  return initialise(__func__);
}

NVML_EXPORT nvml::Return nvmlShutdown() {
  return shut_down();
}

NVML_EXPORT const char* nvmlErrorString(nvml::Return code) {
  const int number = code;
  if (number >= 0 && number < static_cast<int>(std::size(kErrors))) return kErrors[number];
  return "Unknown Error";
}

NVML_EXPORT nvml::Return nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return on_machine(__func__, [&](Machine&) { return give_text(kDriverVersion, version, length); });
}

NVML_EXPORT nvml::Return nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  return on_machine(__func__, [&](Machine&) { return give_text(kNvmlVersion, version, length); });
}

NVML_EXPORT nvml::Return nvmlSystemGetCudaDriverVersion(int* version) {
  return on_machine(__func__, [&](Machine&) { return give(version, nvml::kCudaVersion); });
}

NVML_EXPORT nvml::Return nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return on_machine(__func__, [&](Machine&) { return give(version, nvml::kCudaVersion); });
}

NVML_EXPORT nvml::Return nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) {
  return on_machine(__func__, [&](Machine&) -> nvml::Return {
    if (name == nullptr || length == 0) return nvml::kInvalidArgument;
    std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
    if (!file) return nvml::kNotFound;
    std::string program;
    std::getline(file, program, '\0');
    // NVML truncates a long name.
    return give_text(std::string_view(program).substr(0, length - 1), name, length);
  });
}

// Not part of NVML: 1 if the caller may change settings on this stand-in; 0 also if it cannot be
// opened.
NVML_EXPORT int hypermileStandInMaySet() {
  int allowed = 0;
  guarded([&]() -> nvml::Return {
    const std::shared_ptr<Machine> here = machine();
    if (here != nullptr && may_set(*here)) allowed = 1;
    return nvml::kSuccess;
  });
  return allowed;
}
