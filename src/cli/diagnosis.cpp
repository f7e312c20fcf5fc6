// SPDX-License-Identifier: Apache-2.0
#include "cli/diagnosis.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/terminal_text.h"

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

std::string to_lines(const DoctorFinding& finding, std::size_t indent) {
  const std::string name =
      fmt::format("{:<5} {:<10} ", verdict_text(finding.verdict), finding.name);
  const std::string text =
      finding.fix.empty() ? finding.detail : finding.detail + "; " + finding.fix;
  const std::size_t column = indent + columns(name);
  return name + wrapped(text, column, column);
}

DoctorFinding diagnose_control(const Capabilities& capabilities, const ClockRights& rights) {
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
  if (rights.yes) {
    return {"control", DoctorVerdict::kOk, "clocks can be changed " + rights.words, ""};
  }
  return {"control", DoctorVerdict::kWarn, "clocks cannot be changed: " + rights.words,
          rights.fix + "; observing needs no rights"};
}

GpuDiagnosis diagnose_gpu(Gpu& gpu, const ClockRights& rights) {
  const Capabilities& capabilities = gpu.capabilities();
  GpuDiagnosis diagnosis{gpu.identity(), {}, {}};
  diagnosis.findings = {
      clock_finding("sm", capabilities.sm_clocks, capabilities.sm_clock_lock),
      clock_finding("mem", capabilities.memory_clocks, capabilities.memory_clock_lock),
      limit_finding(capabilities), diagnose_control(capabilities, rights), tenants_finding(gpu)};
  return diagnosis;
}

DoctorFinding diagnose_cupti(const std::optional<std::string>& path) {
  if (path) return {"cupti", DoctorVerdict::kOk, *path, ""};
  return {"cupti", DoctorVerdict::kWarn, "not found: kernel launches cannot be seen",
          "install a CUDA toolkit or pip's nvidia-cuda-cupti"};
}

DoctorFinding diagnose_host_energy(const HostEnergy& host) {
  if (host.used()) {
    return {"host", DoctorVerdict::kOk, "its energy is read from " + host.zones(), ""};
  }
  return {"host", DoctorVerdict::kWarn, "its energy cannot be read: only that of GPUs is told",
          "optional; see docs/guide/administrator.md"};
}

nlohmann::json diagnosis_json(const std::vector<DoctorFinding>& machine,
                              const std::vector<GpuDiagnosis>& gpus, const ClockRights& rights) {
  nlohmann::json document = {{"checks", nlohmann::json::array()},
                             {"gpus", nlohmann::json::array()},
                             {"clocks", {{"can_change", rights.yes}, {"detail", rights.words}}}};
  if (!rights.fix.empty()) document["clocks"]["fix"] = rights.fix;
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
