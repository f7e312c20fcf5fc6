// SPDX-License-Identifier: Apache-2.0
//
// What doctor says about a GPU: findings with a verdict and, where something is missing, a fix.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "gpu/gpu.h"
#include "measure/host_energy.h"
#include "measure/sensor_probe.h"

namespace hypermile {

enum class DoctorVerdict { kOk, kWarn, kFail };

struct DoctorFinding {
  std::string name;
  DoctorVerdict verdict = DoctorVerdict::kOk;
  std::string detail;
  std::string fix;
};

// Whether this user can have clocks changed (clock_rights.h).
struct ClockRights {
  bool yes = false;
  std::string words;  // how, or why not
  std::string fix;    // what to do; "" where nothing is needed
};

struct GpuDiagnosis {
  GpuIdentity identity;
  std::vector<DoctorFinding> findings;
  std::vector<SensorReport> sensors;
};

// "ok    sm         345 to 1980 MHz, 110 steps", in lines that fit a terminal where the first one
// is indented by `indent`.
std::string to_lines(const DoctorFinding& finding, std::size_t indent);

// Knobs, barriers, rights and processes on the GPU; `sensors` is left empty. Only reads.
GpuDiagnosis diagnose_gpu(Gpu& gpu, const ClockRights& rights);

// Whether the clocks of one GPU can be changed: what bars it, else the rights of the user.
DoctorFinding diagnose_control(const Capabilities& capabilities, const ClockRights& rights);

// `path`: where CUPTI was found, if it was.
DoctorFinding diagnose_cupti(const std::optional<std::string>& path);

// Whether the energy of the host's processors can be reported beside that of the GPUs.
DoctorFinding diagnose_host_energy(const HostEnergy& host);

nlohmann::json diagnosis_json(const std::vector<DoctorFinding>& machine,
                              const std::vector<GpuDiagnosis>& gpus, const ClockRights& rights);

}  // namespace hypermile
