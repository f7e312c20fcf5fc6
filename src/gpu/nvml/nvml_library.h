// SPDX-License-Identifier: Apache-2.0
//
// NVML as loaded into this process: opened by name at run time, initialised once, shut down with
// its last owner. Call open_nvml(), then list_gpus(), then open_gpu().
//
// These calls may block for seconds or for ever when the driver is in trouble, so programs use
// nvml_open.h, which adds deadlines. NVML does not survive a fork: a child process must open its
// own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "gpu/gpu.h"
#include "gpu/nvml/nvml_functions.h"
#include "gpu/nvml/nvml_setters.h"

namespace hypermile {

class NvmlLibrary {
 public:
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  const nvml::Functions& functions() const { return functions_; }
  const NvmlSetters& setters() const { return setters_; }
  const std::string& path() const { return path_; }  // the name given to the dynamic loader
  // "" if the driver does not report it
  const std::string& driver_version() const { return driver_version_; }

 private:
  friend Result<std::shared_ptr<NvmlLibrary>> open_nvml(const std::string& path);
  NvmlLibrary(void* handle, std::string path);

  void* handle_;
  std::string path_;
  nvml::Functions functions_;
  NvmlSetters setters_;
  std::string driver_version_;
  bool initialised_ = false;
};

// $HYPERMILE_NVML, else the driver's libnvidia-ml.so.1.
std::string default_nvml_path();

// kNoDriver, with a remedy, when the library or the driver behind it is missing.
Result<std::shared_ptr<NvmlLibrary>> open_nvml(const std::string& path = default_nvml_path());

struct GpuList {
  std::vector<GpuIdentity> gpus;   // in NVML's order, which is PCI bus order
  std::vector<Error> unreachable;  // one for each GPU that did not answer: "GPU 3: …"
};

// One dead GPU does not hide the others. Fails only if the GPUs cannot be counted.
Result<GpuList> list_gpus(const NvmlLibrary& library);

// `clock` must outlive the Gpu. Changes nothing on the card.
Result<std::unique_ptr<Gpu>> open_gpu(std::shared_ptr<NvmlLibrary> library, const GpuUuid& uuid,
                                      Clock& clock);

}  // namespace hypermile
