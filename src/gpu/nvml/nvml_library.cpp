// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/nvml_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "gpu/nvml/nvml_error.h"
#include "gpu/nvml/nvml_gpu.h"
#include "gpu/nvml/nvml_identity.h"

namespace hypermile {
namespace {

constexpr const char* kDefaultPath = "libnvidia-ml.so.1";

Error cannot_load(const std::string& path) {
  const char* reason = dlerror();
  return Error{ErrorCode::kNoDriver,
               fmt::format("cannot load NVIDIA's management library: {}",
                           reason != nullptr ? reason : path.c_str()),
               "install the NVIDIA driver or expose it to this container; without a GPU try "
               "'hypermile demo'"};
}

}  // namespace

std::string default_nvml_path() {
  // secure_getenv ignores the variable in a program that runs with more rights than its caller.
  const char* path = secure_getenv("HYPERMILE_NVML");
  return path != nullptr && *path != '\0' ? path : kDefaultPath;
}

NvmlLibrary::NvmlLibrary(void* handle, std::string path)
    : handle_(handle),
      path_(std::move(path)),
      functions_(nvml::load_functions(handle)),
      setters_(handle) {}

NvmlLibrary::~NvmlLibrary() {
  if (initialised_) nvml::call(functions_.shutdown);
  dlclose(handle_);
}

Result<std::shared_ptr<NvmlLibrary>> open_nvml(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return cannot_load(path);
  std::shared_ptr<NvmlLibrary> library(new NvmlLibrary(handle, path));

  const nvml::Functions& f = library->functions_;
  if (f.init == nullptr || f.shutdown == nullptr || f.device_count == nullptr ||
      f.device_by_index == nullptr || f.device_uuid == nullptr) {
    return Error{ErrorCode::kNoDriver, path + " is not NVIDIA's management library, or too old",
                 "update the NVIDIA driver; if HYPERMILE_NVML is set, check it"};
  }
  if (const nvml::Return code = f.init(); code != nvml::kSuccess) {
    return nvml_error(code, "start NVML");
  }
  library->initialised_ = true;
  char version[80] = {};
  if (nvml::call(f.system_driver_version, version, static_cast<unsigned>(sizeof version - 1)) ==
      nvml::kSuccess) {
    library->driver_version_ = version;
  }
  return library;
}

Result<GpuList> list_gpus(const NvmlLibrary& library) {
  unsigned count = 0;
  const nvml::Return code = library.functions().device_count(&count);
  if (code != nvml::kSuccess) return nvml_error(code, "count the GPUs");
  GpuList list;
  for (unsigned index = 0; index < count; ++index) {
    const std::string name = fmt::format("GPU {}", index);
    nvml::Device device = nullptr;
    const nvml::Return opened = library.functions().device_by_index(index, &device);
    if (opened != nvml::kSuccess) {
      list.unreachable.push_back(nvml_error(opened, "open it").in(name));
      continue;
    }
    Result<GpuIdentity> identity = read_identity(library, device);
    if (!identity) {
      list.unreachable.push_back(identity.error().in(name));
      continue;
    }
    identity->index = static_cast<int>(index);
    list.gpus.push_back(*std::move(identity));
  }
  return list;
}

Result<std::unique_ptr<Gpu>> open_gpu(std::shared_ptr<NvmlLibrary> library, const GpuUuid& uuid,
                                      Clock& clock) {
  ASSIGN_OR_RETURN(nvml::Device device, find_device(*library, uuid));
  ASSIGN_OR_RETURN(GpuIdentity identity, read_identity(*library, device));
  return std::unique_ptr<Gpu>(
      std::make_unique<NvmlGpu>(std::move(library), device, std::move(identity), clock));
}

}  // namespace hypermile
