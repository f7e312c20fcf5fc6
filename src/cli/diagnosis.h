// SPDX-License-Identifier: Apache-2.0
//
// What doctor says of a GPU: findings with a verdict and, where something is missing, a fix.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "gpu/gpu.h"
#include "measure/sensor_probe.h"

namespace hypermile {

enum class Verdict { kOk, kWarn, kFail };

struct Finding {
  std::string name;
  Verdict verdict = Verdict::kOk;
  std::string detail;
  std::string fix;
};

struct GpuDiagnosis {
  GpuIdentity identity;
  std::vector<Finding> findings;
  std::vector<SensorReport> sensors;
};

// "ok    sm_clock   345 to 1980 MHz in 110 steps".
std::string to_line(const Finding& finding);

// Knobs, barriers, permission and co-tenants, without the sensors. Only reads.
GpuDiagnosis diagnose_gpu(Gpu& gpu);

Finding diagnose_cupti(const std::optional<std::string>& path);

nlohmann::json diagnosis_json(const std::vector<Finding>& machine,
                              const std::vector<GpuDiagnosis>& gpus);

}  // namespace hypermile
