// SPDX-License-Identifier: Apache-2.0
//
// A RunSummary as JSON and as text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "control/run_summary.h"

namespace hypermile {
namespace {

using nlohmann::json;

// A job this much slower than its iterations did something else as well.
constexpr double kPauses = 1.03;

void put(json& j, const char* key, const std::optional<double>& value) {
  if (value) j[key] = *value;
}
void put(json& j, const char* key, const char* interval, const std::optional<Estimate>& estimate) {
  if (!estimate) return;
  j[key] = estimate->value;
  put(j, interval, estimate->interval95);
}

json json_of(const PhaseReport& phase) {
  json j = {{"phase", phase.phase},
            {"iterations", phase.iterations},
            {"micro_batches", phase.micro_batches},
            {"in_force_s", phase.in_force.value()},
            {"windows", phase.windows},
            {"windows_counted", phase.windows_that_count},
            {"windows_gpu_timed", phase.gpu_timed}};
  if (!phase.name.empty()) j["name"] = phase.name;
  if (phase.estimated > 0) j["iterations_estimated"] = phase.estimated;
  if (phase.launches > 0) j["launches_per_iteration"] = phase.launches;
  if (!phase.outer.empty()) j["outer"] = phase.outer;
  if (phase.pace) j["pace_s"] = phase.pace->value();
  put(j, "time_per_iteration_s", "time_interval95_s", phase.time);
  put(j, "energy_per_iteration_j", "energy_interval95_j", phase.energy);
  put(j, "energy_disagreement", phase.disagreement);
  put(j, "sm_mhz", phase.sm_clock);
  put(j, "power_w", phase.power);
  if (!phase.unusable.empty()) j["unusable"] = phase.unusable;
  return j;
}

json json_of(const ProcessReport& process) {
  json j = {{"pid", process.pid},
            {"name", process.name},
            {"source", process.source},
            {"devices", process.devices},
            {"launches", process.launches},
            {"launches_lost", process.lost},
            {"gpu_times", process.gpu_times},
            {"seen_s", process.seen.value()},
            {"coverage", process.coverage},
            {"phases", json::array()}};
  for (const PhaseReport& phase : process.phases) j["phases"].push_back(json_of(phase));
  if (process.launch_rate) {
    j["launches_per_second"] = process.launch_rate->per_second;
    j["launches_per_second_error"] = process.launch_rate->standard_error;
  }
  return j;
}

json json_of(const GpuReport& gpu) {
  json j = {{"device", gpu.device}};
  if (!gpu.uuid.empty()) j["uuid"] = gpu.uuid;
  if (!gpu.name.empty()) j["name"] = gpu.name;
  if (gpu.energy) j["energy_j"] = gpu.energy->value();
  if (!gpu.problem.empty()) j["problem"] = gpu.problem;
  return j;
}

// "54.62 ± 0.03 ms": three digits after what the interval leaves uncertain would be noise.
std::string with_interval(const Estimate& estimate, double scale, const char* unit) {
  const double value = estimate.value * scale;
  const int digits = value < 1 ? 4 : value < 100 ? 2 : 1;
  if (!estimate.interval95) return fmt::format("{:.{}f} {}", value, digits, unit);
  return fmt::format("{:.{}f} ± {:.{}f} {}", value, digits, *estimate.interval95 * scale, digits,
                     unit);
}

std::string duration(const Estimate& estimate) {
  return estimate.value < 1 ? with_interval(estimate, 1e3, "ms") : with_interval(estimate, 1, "s");
}

std::string text_of(const PhaseReport& phase, bool several) {
  std::string line = "    ";
  if (!phase.name.empty()) {
    line += fmt::format("{}: ", phase.name);
  } else if (several) {
    line += fmt::format("phase {}: ", phase.phase);
  }
  line += fmt::format("{:.0f} iterations", phase.iterations);
  if (phase.estimated > 0) line += fmt::format(" ({:.0f} of them estimated)", phase.estimated);
  if (phase.micro_batches > 1) line += fmt::format(" of {:.0f} micro-batches", phase.micro_batches);
  if (phase.time) line += ", " + duration(*phase.time);
  if (phase.energy) line += " and " + with_interval(*phase.energy, 1, "J");
  if (phase.time) line += " each";
  if (phase.power) line += fmt::format(", {:.0f} W", *phase.power);
  if (phase.sm_clock) line += fmt::format(" at {:.0f} MHz", *phase.sm_clock);
  if (phase.time && phase.pace && phase.pace->value() > kPauses * phase.time->value) {
    line += fmt::format("; {} with its pauses", duration({phase.pace->value(), std::nullopt}));
  }
  line += "\n";
  if (phase.windows_that_count > 0) {
    line += fmt::format("      from {} windows, {} of them on the GPU's own clock",
                        phase.windows_that_count, phase.gpu_timed);
    if (phase.disagreement) {
      line += fmt::format("; energy counter {:+.1f} % against power samples",
                          *phase.disagreement * 100);
    }
    line += "\n";
  }
  for (const auto& [reason, count] : phase.unusable) {
    line +=
        fmt::format("      not fit for decisions, {} of {}: {}\n", count, phase.windows, reason);
  }
  return line;
}

std::string text_of(const ProcessReport& process) {
  std::string text = fmt::format("  process {} ({})", process.pid, process.name);
  if (!process.devices.empty()) text += fmt::format(" on GPU {}", fmt::join(process.devices, ", "));
  if (process.phases.empty()) {
    text += ": no iterations found";
    if (process.launch_rate) {
      text += fmt::format("; {:.0f} ± {:.0f} launches a second", process.launch_rate->per_second,
                          1.96 * process.launch_rate->standard_error);
    }
    return text + "\n";
  }
  text += fmt::format(", iterations known for {:.0f} % of {:.1f} s, from {}\n",
                      process.coverage * 100, process.seen.value(), process.source);
  for (const PhaseReport& phase : process.phases) text += text_of(phase, process.phases.size() > 1);
  return text;
}

}  // namespace

nlohmann::json to_json(const RunSummary& summary) {
  json j = {{"seconds", summary.duration.value()},
            {"gpus", json::array()},
            {"processes", json::array()},
            {"notes", summary.notes}};
  if (summary.attached.empty()) {
    j["command"] = summary.command;
    j["exit_code"] = summary.end.exit_code();
  } else {
    j["attached"] = summary.attached;
  }
  if (summary.end.signal) j["signal"] = *summary.end.signal;
  for (const GpuReport& gpu : summary.gpus) j["gpus"].push_back(json_of(gpu));
  for (const ProcessReport& process : summary.processes) {
    j["processes"].push_back(json_of(process));
  }
  return j;
}

std::string to_text(const RunSummary& summary) {
  std::string text = fmt::format(
      "hypermile: {} {:.1f} s",
      summary.attached.empty() ? "the job ended after" : summary.attached + " watched for",
      summary.duration.value());
  if (!summary.attached.empty()) {
    // How it ended its own parent knows.
  } else if (summary.end.signal) {
    text += fmt::format(", killed by signal {}", *summary.end.signal);
  } else {
    text += fmt::format(" with {}", summary.end.code);
  }
  for (const GpuReport& gpu : summary.gpus) {
    if (gpu.energy) text += fmt::format("; GPU {} used {:.0f} J", gpu.device, gpu.energy->value());
  }
  text += "\n";
  for (const ProcessReport& process : summary.processes) text += text_of(process);
  if (summary.clocks_moved && !summary.processes.empty()) {
    text += "      over all clocks that were tried; what each of them cost:\n";
  }
  for (const std::string& note : summary.notes) text += "  note: " + note + "\n";
  return text;
}

}  // namespace hypermile
