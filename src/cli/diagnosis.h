// SPDX-License-Identifier: Apache-2.0
//
// What doctor says about a GPU: findings with a verdict and, where something is missing, a fix.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "gpu/gpu.h"
#include "measure/sensor_probe.h"

namespace hypermile {

enum class DoctorVerdict { kOk, kWarn, kFail };

struct DoctorFinding {
  std::string name;
  DoctorVerdict verdict = DoctorVerdict::kOk;
  std::string detail;
  std::string fix;
};

struct GpuDiagnosis {
  GpuIdentity identity;
  std::vector<DoctorFinding> findings;
  std::vector<SensorReport> sensors;
};

// "ok    sm_clock   345 to 1980 MHz in 110 steps".
std::string to_line(const DoctorFinding& finding);

// Knobs, barriers, rights and processes on the GPU; `sensors` is left empty. Only reads.
GpuDiagnosis diagnose_gpu(Gpu& gpu);

// `path`: where CUPTI was found, if it was.
DoctorFinding diagnose_cupti(const std::optional<std::string>& path);

nlohmann::json diagnosis_json(const std::vector<DoctorFinding>& machine,
                              const std::vector<GpuDiagnosis>& gpus);

}  // namespace hypermile
