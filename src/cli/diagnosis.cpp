// SPDX-License-Identifier: Apache-2.0
#include "cli/diagnosis.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "gpu/nvml/nvml_setters.h"

namespace hypermile {
namespace {

std::string_view verdict_text(DoctorVerdict verdict) {
  switch (verdict) {
    case DoctorVerdict::kOk:
      return "ok";
    case DoctorVerdict::kWarn:
      return "warn";
    case DoctorVerdict::kFail:
      return "fail";
  }
  return "fail";
}

DoctorFinding clock_finding(const char* name, const std::vector<Mhz>& clocks, Support lock) {
  DoctorFinding finding{name, DoctorVerdict::kOk, "", ""};
  if (clocks.empty()) {
    return {name, DoctorVerdict::kWarn, "the driver lists no clocks",
            "this knob will not be searched"};
  }
  finding.detail =
      clocks.size() == 1
          ? fmt::format("one clock only, {:g} MHz: nothing to search", clocks.front().value())
          : fmt::format("{:g} to {:g} MHz, {} steps", clocks.back().value(), clocks.front().value(),
                        clocks.size());
  if (lock == Support::kNo) {
    finding.verdict = DoctorVerdict::kWarn;
    finding.detail += "; cannot be locked here";
    finding.fix = "locking needs a newer driver or card; this knob will not be searched";
  }
  return finding;
}

DoctorFinding limit_finding(const Capabilities& capabilities) {
  if (!capabilities.power_limit_range) {
    return {"limit", DoctorVerdict::kWarn, "the power limit cannot be changed on this card",
            "this knob will not be searched"};
  }
  std::string detail = fmt::format("{:g} to {:g} W", capabilities.power_limit_range->min.value(),
                                   capabilities.power_limit_range->max.value());
  if (capabilities.default_power_limit) {
    detail += fmt::format(", default {:g} W", capabilities.default_power_limit->value());
  }
  if (capabilities.current_power_limit) {
    detail += fmt::format(", now {:g} W", capabilities.current_power_limit->value());
  }
  return {"limit", DoctorVerdict::kOk, detail, ""};
}

DoctorFinding control_finding(const Capabilities& capabilities) {
  switch (capabilities.barrier) {
    case ControlBarrier::kMigEnabled:
      return {"control", DoctorVerdict::kFail, "MIG is enabled: its instances share one clock",
              "clocks are left alone; use --observe, or disable MIG"};
    case ControlBarrier::kVirtualGpu:
      return {"control", DoctorVerdict::kFail,
              "this is a virtual GPU: its clocks belong to the host",
              "clocks are left alone; run hypermile on the host"};
    case ControlBarrier::kSharedByMps:
      return {"control", DoctorVerdict::kFail, "jobs share this GPU through MPS",
              "clocks are left alone while they do; use --observe"};
    case ControlBarrier::kNone:
      break;
  }
  if (read_only_mode()) {
    return {"control", DoctorVerdict::kWarn, "HYPERMILE_READ_ONLY is set: nothing can be changed",
            "unset it to let hypermile change clocks"};
  }
  if (capabilities.may_set)
    return {"control", DoctorVerdict::kOk, "this process may change clocks", ""};
  return {"control", DoctorVerdict::kWarn,
          "this process may not change clocks (needs CAP_SYS_ADMIN)",
          "use the daemon or sudo to change clocks; observing needs no rights"};
}

DoctorFinding tenants_finding(Gpu& gpu) {
  const auto processes = gpu.processes();
  if (!processes) return {"processes", DoctorVerdict::kWarn, processes.error().line(), ""};
  const std::size_t count = processes->size();
  return {"processes", DoctorVerdict::kOk,
          fmt::format("{} compute process{}", count == 0 ? "no" : std::to_string(count),
                      count == 1 ? "" : "es"),
          ""};
}

nlohmann::json finding_json(const DoctorFinding& finding) {
  nlohmann::json j = {{"name", finding.name},
                      {"verdict", verdict_text(finding.verdict)},
                      {"detail", finding.detail}};
  if (!finding.fix.empty()) j["fix"] = finding.fix;
  return j;
}

nlohmann::json sensor_json(const SensorReport& sensor) {
  nlohmann::json j = {{"name", sensor.name}, {"present", sensor.present}};
  if (sensor.present) j["value"] = sensor.value;
  if (sensor.cost) j["cost_s"] = sensor.cost->value();
  if (sensor.refresh) j["refresh_s"] = sensor.refresh->value();
  if (!sensor.note.empty()) j["note"] = sensor.note;
  return j;
}

}  // namespace

std::string to_line(const DoctorFinding& finding) {
  std::string line =
      fmt::format("{:<5} {:<10} {}", verdict_text(finding.verdict), finding.name, finding.detail);
  if (!finding.fix.empty()) line += fmt::format("; {}", finding.fix);
  return line;
}

GpuDiagnosis diagnose_gpu(Gpu& gpu) {
  const Capabilities& capabilities = gpu.capabilities();
  GpuDiagnosis diagnosis{gpu.identity(), {}, {}};
  diagnosis.findings = {
      clock_finding("sm", capabilities.sm_clocks, capabilities.sm_clock_lock),
      clock_finding("mem", capabilities.memory_clocks, capabilities.memory_clock_lock),
      limit_finding(capabilities), control_finding(capabilities), tenants_finding(gpu)};
  return diagnosis;
}

DoctorFinding diagnose_cupti(const std::optional<std::string>& path) {
  if (path) return {"cupti", DoctorVerdict::kOk, *path, ""};
  return {"cupti", DoctorVerdict::kWarn, "not found: kernel launches cannot be seen",
          "install a CUDA toolkit or pip's nvidia-cuda-cupti"};
}

nlohmann::json diagnosis_json(const std::vector<DoctorFinding>& machine,
                              const std::vector<GpuDiagnosis>& gpus) {
  nlohmann::json document = {{"checks", nlohmann::json::array()},
                             {"gpus", nlohmann::json::array()}};
  for (const DoctorFinding& finding : machine) document["checks"].push_back(finding_json(finding));
  for (const GpuDiagnosis& gpu : gpus) {
    nlohmann::json j = {
        {"uuid", gpu.identity.uuid.text()},  {"name", gpu.identity.name},
        {"pci", gpu.identity.pci.text()},    {"driver", gpu.identity.driver_version},
        {"checks", nlohmann::json::array()}, {"sensors", nlohmann::json::array()}};
    if (gpu.identity.index) j["index"] = *gpu.identity.index;
    for (const DoctorFinding& finding : gpu.findings) j["checks"].push_back(finding_json(finding));
    for (const SensorReport& sensor : gpu.sensors) j["sensors"].push_back(sensor_json(sensor));
    document["gpus"].push_back(std::move(j));
  }
  return document;
}

}  // namespace hypermile
