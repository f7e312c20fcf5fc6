// SPDX-License-Identifier: Apache-2.0
//
// Opens the GPU that a person named with --gpu: a real card, whose calls have deadlines, a
// simulated one or a replayed one. The only place where backends are chosen.
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
  // Iterations of the job so far; empty for real cards, which do not know.
  std::function<double()> iterations;
};

// `clock` must outlive the Gpu; `seed` is of a simulated card's noise. kUsage, with the nearest
// names, where the name means no GPU here; kNoDriver where a real card is named and there is no
// driver.
Result<OpenedGpu> open_named_gpu(const std::string& name, Clock& clock, std::uint64_t seed);

// The first GPU visible to CUDA, which a job started now would use.
Result<OpenedGpu> open_first_visible_gpu(Clock& clock);

// The GPU with CUDA number `device` in a process with these values of CUDA_VISIBLE_DEVICES and
// CUDA_DEVICE_ORDER.
Result<OpenedGpu> open_visible_gpu(const std::optional<std::string>& visible,
                                   const std::optional<std::string>& order, unsigned device,
                                   Clock& clock);

// Every card of this machine.
struct MachineGpus {
  std::string driver_version;
  std::vector<OpenedGpu> gpus;
  std::vector<Error> problems;     // one for each card that cannot be opened
  std::vector<std::string> notes;  // about CUDA_VISIBLE_DEVICES, for people
};
Result<MachineGpus> open_all_gpus(Clock& clock);

}  // namespace hypermile
