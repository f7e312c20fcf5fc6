// SPDX-License-Identifier: Apache-2.0
#include "cli/diagnosis.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "gpu/nvml/nvml_setters.h"

namespace hypermile {
namespace {

std::string_view verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kWarn:
      return "warn";
    case Verdict::kFail:
      return "fail";
  }
  return "fail";
}

Finding clock_finding(const char* name, const std::vector<Mhz>& clocks, Support lock) {
  Finding finding{name, Verdict::kOk, "", ""};
  if (clocks.empty()) {
    return {name, Verdict::kWarn, "the driver lists no clocks", "this knob will not be searched"};
  }
  finding.detail =
      clocks.size() == 1
          ? fmt::format("one clock only, {:g} MHz: nothing to search", clocks.front().value())
          : fmt::format("{:g} to {:g} MHz, {} steps", clocks.back().value(), clocks.front().value(),
                        clocks.size());
  if (lock == Support::kNo) {
    finding.verdict = Verdict::kWarn;
    finding.detail += "; cannot be locked here";
    finding.fix = "locking needs a newer driver or card; this knob will not be searched";
  }
  return finding;
}

Finding limit_finding(const Capabilities& capabilities) {
  if (!capabilities.power_limit_range) {
    return {"limit", Verdict::kWarn, "the power limit cannot be changed on this card",
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
  return {"limit", Verdict::kOk, detail, ""};
}

Finding control_finding(const Capabilities& capabilities) {
  switch (capabilities.barrier) {
    case ControlBarrier::kMigEnabled:
      return {"control", Verdict::kFail, "MIG is enabled: its instances share one clock",
              "control is refused; use --observe, or disable MIG"};
    case ControlBarrier::kVirtualGpu:
      return {"control", Verdict::kFail, "this is a virtual GPU: its clocks belong to the host",
              "control is refused; run hypermile on the host"};
    case ControlBarrier::kSharedByMps:
      return {"control", Verdict::kFail, "jobs share this GPU through MPS",
              "control is refused while they do; use --observe"};
    case ControlBarrier::kNone:
      break;
  }
  if (read_only_mode()) {
    return {"control", Verdict::kWarn, "HYPERMILE_READ_ONLY is set: nothing can be changed",
            "unset it to control"};
  }
  if (capabilities.may_set) return {"control", Verdict::kOk, "this process may change clocks", ""};
  return {"control", Verdict::kWarn, "this process may not change clocks (needs CAP_SYS_ADMIN)",
          "run as root to control; everything can be observed without"};
}

Finding tenants_finding(Gpu& gpu) {
  const auto processes = gpu.processes();
  if (!processes) return {"processes", Verdict::kWarn, processes.error().line(), ""};
  const std::size_t count = processes->size();
  return {"processes", Verdict::kOk,
          fmt::format("{} compute process{}", count == 0 ? "no" : std::to_string(count),
                      count == 1 ? "" : "es"),
          ""};
}

nlohmann::json finding_json(const Finding& finding) {
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

std::string to_line(const Finding& finding) {
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

Finding diagnose_cupti(const std::optional<std::string>& path) {
  if (path) return {"cupti", Verdict::kOk, *path, ""};
  return {"cupti", Verdict::kWarn, "not found: kernel launches cannot be seen",
          "install a CUDA toolkit or pip's nvidia-cuda-cupti"};
}

nlohmann::json diagnosis_json(const std::vector<Finding>& machine,
                              const std::vector<GpuDiagnosis>& gpus) {
  nlohmann::json document = {{"checks", nlohmann::json::array()},
                             {"gpus", nlohmann::json::array()}};
  for (const Finding& finding : machine) document["checks"].push_back(finding_json(finding));
  for (const GpuDiagnosis& gpu : gpus) {
    nlohmann::json j = {
        {"uuid", gpu.identity.uuid.text()},  {"name", gpu.identity.name},
        {"pci", gpu.identity.pci.text()},    {"driver", gpu.identity.driver_version},
        {"checks", nlohmann::json::array()}, {"sensors", nlohmann::json::array()}};
    if (gpu.identity.index) j["index"] = *gpu.identity.index;
    for (const Finding& finding : gpu.findings) j["checks"].push_back(finding_json(finding));
    for (const SensorReport& sensor : gpu.sensors) j["sensors"].push_back(sensor_json(sensor));
    document["gpus"].push_back(std::move(j));
  }
  return document;
}

}  // namespace hypermile
