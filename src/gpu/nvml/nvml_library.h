// SPDX-License-Identifier: Apache-2.0
//
// NVML as loaded into this process: opened by name at run time, initialised once, shut down with
// the last owner: open_nvml(), then list_gpus(), then open_gpu().
//
// All of these may block for seconds or for ever when the driver is sick, so programs go through
// nvml_open.h, which puts deadlines around them. NVML does not survive a fork: a child process
// opens its own.
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
  const std::string& path() const { return path_; }  // what was asked of the loader
  const std::string& driver_version() const { return driver_version_; }  // "" when it is not told

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

// kNoDriver when there is no library or no driver behind it, with what to do about it.
Result<std::shared_ptr<NvmlLibrary>> open_nvml(const std::string& path = default_nvml_path());

struct GpuList {
  std::vector<GpuIdentity> gpus;   // in NVML's order, which is that of the PCI bus
  std::vector<Error> unreachable;  // one for each GPU that did not answer, "GPU 3: …"
};

// One dead GPU does not hide the others; fails only when the GPUs cannot even be counted.
Result<GpuList> list_gpus(const NvmlLibrary& library);

// `clock` must outlive the Gpu. Changes nothing on the card.
Result<std::unique_ptr<Gpu>> open_gpu(std::shared_ptr<NvmlLibrary> library, const GpuUuid& uuid,
                                      Clock& clock);

}  // namespace hypermile
