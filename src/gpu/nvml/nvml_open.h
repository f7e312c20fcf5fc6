// SPDX-License-Identifier: Apache-2.0
//
// How programs reach real cards: loading NVML, listing and every later call under a deadline, so
// that a sick driver costs the caller seconds, never its life. In real time only: the cards'
// Samples are stamped with CLOCK_MONOTONIC, which every real Clock shares.
#pragma once

#include <memory>

#include "base/clock.h"
#include "gpu/deadline_gpu.h"
#include "gpu/nvml/nvml_library.h"

namespace hypermile {

Result<GpuList> list_gpus_within(Seconds deadline, const std::string& path = default_nvml_path());

// `clock` is a real one and must outlive the Gpu.
Result<std::unique_ptr<DeadlineGpu>> open_gpu_with_deadlines(
    const GpuUuid& uuid, Clock& clock, DeadlineGpu::Options options,
    const std::string& path = default_nvml_path());

}  // namespace hypermile
