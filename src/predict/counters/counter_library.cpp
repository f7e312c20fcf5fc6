// SPDX-License-Identifier: Apache-2.0
#include "predict/counters/counter_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace hypermile {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(::dlsym(library, name));
  return into != nullptr;
}

// CUPTI looks these two up by name alone. That finds libraries that are already loaded, but not
// those that pip installs next to CUPTI.
void load_neighbours(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return;
  for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"}) {
    ::dlopen((path.substr(0, slash + 1) + name).c_str(), RTLD_NOW | RTLD_GLOBAL);
  }
}

bool find_all(void* cupti, CounterLibrary& to) {
  return find(cupti, "cuptiProfilerInitialize", to.profiler_initialize) &&
         find(cupti, "cuptiDeviceGetChipName", to.chip_name) &&
         find(cupti, "cuptiPmSamplingGetCounterAvailability", to.availability) &&
         find(cupti, "cuptiProfilerHostInitialize", to.host_initialize) &&
         find(cupti, "cuptiProfilerHostDeinitialize", to.host_deinitialize) &&
         find(cupti, "cuptiProfilerHostConfigAddMetrics", to.add_metrics) &&
         find(cupti, "cuptiProfilerHostGetConfigImageSize", to.config_size) &&
         find(cupti, "cuptiProfilerHostGetConfigImage", to.config_image) &&
         find(cupti, "cuptiProfilerHostGetNumOfPasses", to.passes) &&
         find(cupti, "cuptiProfilerHostEvaluateToGpuValues", to.evaluate) &&
         find(cupti, "cuptiPmSamplingEnable", to.enable) &&
         find(cupti, "cuptiPmSamplingDisable", to.disable) &&
         find(cupti, "cuptiPmSamplingSetConfig", to.set_config) &&
         find(cupti, "cuptiPmSamplingStart", to.start) &&
         find(cupti, "cuptiPmSamplingStop", to.stop) &&
         find(cupti, "cuptiPmSamplingGetCounterDataSize", to.data_size) &&
         find(cupti, "cuptiPmSamplingCounterDataImageInitialize", to.data_initialize) &&
         find(cupti, "cuptiPmSamplingDecodeData", to.decode) &&
         find(cupti, "cuptiPmSamplingGetCounterDataInfo", to.data_info);
}

}  // namespace

Result<CounterLibrary> CounterLibrary::load_cupti(const std::vector<std::string>& candidates) {
  std::string too_old;
  for (const std::string& path : candidates) {
    load_neighbours(path);
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    CounterLibrary found;
    found.path = path;
    if (find_all(library, found)) return found;
    too_old = path;
  }
  if (!too_old.empty()) {
    return Error{ErrorCode::kUnsupported, fmt::format("{} cannot sample counters", too_old),
                 "install CUPTI 12.6 or newer, as nvidia-cuda-cupti, and name it in "
                 "HYPERMILE_CUPTI"};
  }
  return Error{ErrorCode::kNotFound, "no CUPTI library was found",
               "install cuda-cupti or nvidia-cuda-cupti (12.6 or newer), or name libcupti.so in "
               "HYPERMILE_CUPTI"};
}

Result<void> CounterLibrary::load_driver(const std::string& name) {
  void* const driver = ::dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (driver == nullptr || !find(driver, "cuInit", driver_init) ||
      !find(driver, "cuDeviceGetByPCIBusId", device_by_pci)) {
    return Error{ErrorCode::kNoDriver, fmt::format("no CUDA driver ({}) was found", name),
                 "install NVIDIA's driver with its CUDA library"};
  }
  return {};
}

Error counter_error(std::string_view call, int code) {
  const std::string where = fmt::format("{} returned {}", call, code);
  if (code == pm::kInsufficientPrivileges || code == pm::kVirtualInsufficientPrivileges) {
    return Error{ErrorCode::kPermission, "this user may not read performance counters: " + where,
                 "run hypermile as root, or load the driver with "
                 "NVreg_RestrictProfilingToAdminUsers=0 (NVIDIA: ERR_NVGPUCTRPERM)"};
  }
  if (code == pm::kHardwareBusy || (code == pm::kInvalidOperation && call.ends_with("Enable"))) {
    return Error{ErrorCode::kBusy, "another profiler holds the performance counters: " + where,
                 "end it (Nsight, or DCGM's profiling: dcgmi profile --pause)"};
  }
  if (code == pm::kNotSupported || code == pm::kVirtualDevice ||
      (code >= pm::kConfidentialComputing && code <= pm::kWslDevice)) {
    return Error{ErrorCode::kUnsupported,
                 "this GPU, or the mode it is in, has no counters that can be sampled: " + where,
                 "PM sampling begins with Turing, and does not work on MIG, WSL or virtual GPUs"};
  }
  return Error{ErrorCode::kInternal, "CUPTI cannot read performance counters: " + where,
               "another profiler may hold them; the codes are in cupti_result.h"};
}

}  // namespace hypermile
