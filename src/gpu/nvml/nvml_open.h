// SPDX-License-Identifier: Apache-2.0
//
// How programs reach real cards: NVML is loaded and every call is made under a deadline, so a
// driver that hangs costs the caller seconds at most. Works in real time only: Samples carry
// CLOCK_MONOTONIC, which all real clocks share. Failures: kNoDriver, kTimeout, and those of the
// calls themselves.
#pragma once

#include <memory>

#include "base/clock.h"
#include "gpu/deadline_gpu.h"
#include "gpu/nvml/nvml_library.h"

namespace hypermile {

Result<GpuList> list_gpus_within(Seconds deadline, const std::string& path = default_nvml_path());

// `clock` must be a real clock and must outlive the Gpu.
Result<std::unique_ptr<DeadlineGpu>> open_gpu_with_deadlines(
    const GpuUuid& uuid, Clock& clock, DeadlineGpu::Options options,
    const std::string& path = default_nvml_path());

}  // namespace hypermile
