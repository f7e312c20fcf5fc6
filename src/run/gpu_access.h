// SPDX-License-Identifier: Apache-2.0
//
// From what a person typed for --gpu to a Gpu that is ready to use: a real card behind a deadline,
// a simulated or a replayed one. The only place where backends are chosen.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "gpu/gpu.h"

namespace hypermile {

struct OpenedGpu {
  std::unique_ptr<Gpu> gpu;
  // How far the job has come, where the backend itself knows (replayed and simulated ones do).
  std::function<double()> iterations;
};

// `clock` must outlive the Gpu. A name that means no GPU here is kUsage with the nearest names;
// kNoDriver where a real card is asked for and there is no driver.
Result<OpenedGpu> open_named_gpu(const std::string& name, Clock& clock, std::uint64_t seed);

// The GPU a job started now would use: the first one visible to CUDA.
Result<OpenedGpu> open_first_visible_gpu(Clock& clock);

// The GPU that a process calls `device` whose CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER are these.
Result<OpenedGpu> open_visible_gpu(const std::optional<std::string>& visible,
                                   const std::optional<std::string>& order, unsigned device,
                                   Clock& clock);

// Every card of this machine; those that cannot be opened are in `problems`.
struct MachineGpus {
  std::string driver_version;
  std::vector<OpenedGpu> gpus;
  std::vector<Error> problems;
  std::vector<std::string> notes;  // on what CUDA_VISIBLE_DEVICES means here
};
Result<MachineGpus> open_all_gpus(Clock& clock);

}  // namespace hypermile
