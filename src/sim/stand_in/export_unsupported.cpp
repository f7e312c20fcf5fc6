// SPDX-License-Identifier: Apache-2.0
//
// Functions that clients call and expect to be refused: the stand-in never has MIG enabled, and has
// no ECC, no fans and no application clocks. A function that is not exported has not been needed by
// any known client.
#include "sim/stand_in/stand_in.h"

using namespace hypermile;
using namespace hypermile::stand_in;

namespace {

nvml::Return refuse(const char* function, nvml::Device device) {
  return on_gpu(function, device, [](Machine&, unsigned) { return nvml::kNotSupported; });
}

}  // namespace

// Cards that support MIG report it as disabled.
NVML_EXPORT nvml::Return nvmlDeviceGetMigMode(nvml::Device device, unsigned* now,
                                              unsigned* pending) {
  return on_gpu(__func__, device, [&](Machine& here, unsigned gpu) -> nvml::Return {
    const GpuFacts& facts = here.facts(gpu);
    if (facts.compute_major < 8 || facts.compute_minor != 0) return nvml::kNotSupported;
    if (now == nullptr) return nvml::kInvalidArgument;
    *now = 0;
    return give(pending, 0U);
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetMaxMigDeviceCount(nvml::Device device, unsigned* count) {
  return on_gpu(__func__, device, [&](Machine&, unsigned) { return give(count, 0U); });
}

NVML_EXPORT nvml::Return nvmlDeviceGetEccMode(nvml::Device device, unsigned*, unsigned*) {
  return refuse(__func__, device);
}

NVML_EXPORT nvml::Return nvmlDeviceGetFanSpeed(nvml::Device device, unsigned*) {
  return refuse(__func__, device);
}

NVML_EXPORT nvml::Return nvmlDeviceGetFanSpeed_v2(nvml::Device device, unsigned, unsigned*) {
  return refuse(__func__, device);
}

NVML_EXPORT nvml::Return nvmlDeviceGetNumFans(nvml::Device device, unsigned*) {
  return refuse(__func__, device);
}

NVML_EXPORT nvml::Return nvmlDeviceGetEncoderUtilization(nvml::Device device, unsigned*,
                                                         unsigned*) {
  return refuse(__func__, device);
}

NVML_EXPORT nvml::Return nvmlDeviceGetDecoderUtilization(nvml::Device device, unsigned*,
                                                         unsigned*) {
  return refuse(__func__, device);
}

NVML_EXPORT nvml::Return nvmlDeviceGetPcieThroughput(nvml::Device device, int, unsigned*) {
  return refuse(__func__, device);
}

NVML_EXPORT nvml::Return nvmlDeviceSetApplicationsClocks(nvml::Device device, unsigned, unsigned) {
  return refuse(__func__, device);
}

NVML_EXPORT nvml::Return nvmlDeviceResetApplicationsClocks(nvml::Device device) {
  return refuse(__func__, device);
}
