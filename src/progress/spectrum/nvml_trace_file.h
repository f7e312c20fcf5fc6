// SPDX-License-Identifier: Apache-2.0
//
// Reads recordings of NVML's sensors: CSV with a header, with either one row per poll (t_s and
// power_instant_mw or power_usage_mw; optionally energy_mj, util_gpu, util_mem) or one row per
// sample of NVML's buffers (kind, t_s, value). Empty cells and "nan" are skipped; anything else
// that is broken gives an Error with file and line.
#pragma once

#include <string>

#include "base/result.h"
#include "progress/spectrum/nvml_trace.h"

namespace hypermile {

Result<NvmlTrace> read_nvml_trace(const std::string& path);

}  // namespace hypermile
