// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/nvml_error.h"

#include <fmt/format.h>

namespace hypermile {
namespace {

struct Meaning {
  nvml::Return nvml;
  ErrorCode code;
  std::string_view text;
  std::string_view remedy;
};

constexpr std::string_view kReset =
    "stop the jobs on it and reset it with 'nvidia-smi --gpu-reset -i GPU', or reboot";
constexpr std::string_view kUpdate = "update the NVIDIA driver";

constexpr Meaning kMeanings[] = {
    {nvml::kUninitialized, ErrorCode::kNoDriver, "NVML was shut down",
     "start hypermile again; NVML does not survive a fork"},
    {nvml::kInvalidArgument, ErrorCode::kUsage, "the driver refused the value", ""},
    {nvml::kNotSupported, ErrorCode::kUnsupported, "this GPU does not support it", ""},
    {nvml::kNoPermission, ErrorCode::kPermission, "the driver did not permit it",
     "use the daemon (systemctl enable --now hypermiled), or run with CAP_SYS_ADMIN"},
    {nvml::kNotFound, ErrorCode::kNotFound, "the driver did not find it", ""},
    {nvml::kInsufficientSize, ErrorCode::kInternal, "the driver's answer kept growing",
     "try again"},
    {nvml::kInsufficientPower, ErrorCode::kGpuLost, "the GPU's power cables are not attached",
     "attach them"},
    {nvml::kDriverNotLoaded, ErrorCode::kNoDriver, "the NVIDIA driver is not loaded",
     "load it with 'modprobe nvidia', or install it"},
    {nvml::kTimeout, ErrorCode::kTimeout, "the driver gave up waiting for the GPU", kReset},
    {nvml::kIrqIssue, ErrorCode::kGpuLost, "the kernel sees an interrupt problem with the GPU",
     "see dmesg for Xid messages"},
    {nvml::kLibraryNotFound, ErrorCode::kNoDriver, "a library of the driver is missing",
     "install the NVIDIA driver completely"},
    {nvml::kFunctionNotFound, ErrorCode::kUnsupported, "this driver lacks the function", kUpdate},
    {nvml::kCorruptedInforom, ErrorCode::kGpuLost, "the GPU's infoROM is corrupted",
     "see 'nvidia-smi -q' and the card's vendor"},
    {nvml::kGpuIsLost, ErrorCode::kGpuLost, "the GPU has fallen off the bus", kReset},
    {nvml::kResetRequired, ErrorCode::kGpuLost, "the GPU needs a reset", kReset},
    {nvml::kOperatingSystem, ErrorCode::kPermission, "the operating system blocked the driver",
     "check access to /dev/nvidia* and the container's device rules"},
    {nvml::kLibRmVersionMismatch, ErrorCode::kNoDriver,
     "the NVIDIA library and kernel module have different versions",
     "reboot, or reload the kernel module, after the driver update"},
    {nvml::kInUse, ErrorCode::kBusy, "the GPU is in use by somebody else", "try again later"},
    {nvml::kMemory, ErrorCode::kIo, "the driver ran out of memory", "free memory and try again"},
    {nvml::kNoData, ErrorCode::kNotReady, "the driver has no data yet", "try again later"},
    {nvml::kInsufficientResources, ErrorCode::kBusy, "the driver ran out of a resource",
     "close other monitoring tools and try again"},
    {nvml::kFreqNotSupported, ErrorCode::kUsage, "the GPU does not have that clock", ""},
    {nvml::kArgumentVersionMismatch, ErrorCode::kUnsupported,
     "this driver does not know this version of the call", kUpdate},
    {nvml::kDeprecated, ErrorCode::kUnsupported, "this driver no longer supports it", ""},
    {nvml::kNotReady, ErrorCode::kNotReady, "the GPU is not ready", "try again later"},
    {nvml::kGpuNotFound, ErrorCode::kNotFound, "no GPU was found", "see 'nvidia-smi -L'"},
    {nvml::kInvalidState, ErrorCode::kBusy, "the GPU's present state forbids it",
     "see 'nvidia-smi -q'"},
    {nvml::kUnknown, ErrorCode::kInternal, "the driver reports an unknown error",
     "see dmesg for Xid messages"},
};

}  // namespace

Error nvml_error(nvml::Return code, std::string_view what) {
  for (const Meaning& meaning : kMeanings) {
    if (meaning.nvml != code) continue;
    return Error{meaning.code, fmt::format("cannot {}: {}", what, meaning.text),
                 std::string(meaning.remedy)};
  }
  return Error{ErrorCode::kInternal,
               fmt::format("cannot {}: NVML returned code {}", what, static_cast<int>(code)),
               "see dmesg for Xid messages"};
}

bool out_of_reach(nvml::Return code) {
  switch (code) {
    case nvml::kUninitialized:
    case nvml::kDriverNotLoaded:
    case nvml::kTimeout:
    case nvml::kIrqIssue:
    case nvml::kGpuIsLost:
    case nvml::kResetRequired:
    case nvml::kLibRmVersionMismatch:
      return true;
    default:
      return false;
  }
}

}  // namespace hypermile
