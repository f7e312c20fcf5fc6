// SPDX-License-Identifier: Apache-2.0
//
// A RunSummary as JSON and as text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/statistics.h"
#include "base/terminal_text.h"
#include "control/run_summary.h"
#include "record/figures_json.h"
#include "record/figures_text.h"

namespace hypermile {
namespace {

using nlohmann::json;

// A job whose pace is this much slower than its iterations had pauses that are worth a word.
constexpr double kPausedShare = 1.03;

void put(json& j, const char* key, const std::optional<double>& value) {
  if (value) j[key] = *value;
}
void put(json& j, const char* key, const std::optional<Estimate>& estimate) {
  if (estimate) j[key] = estimate->value;
}
void put(json& j, const char* key, const char* interval, const std::optional<Estimate>& estimate) {
  put(j, key, estimate);
  if (estimate) put(j, interval, estimate->half_width95);
}

json json_of(const PhaseReport& phase) {
  json j = {{"phase", phase.phase},
            {"iterations", phase.iterations},
            {"micro_batches", phase.micro_batches},
            {"in_force_s", phase.in_force.value()},
            {"windows", phase.windows},
            {"windows_counted", phase.cost ? phase.cost->windows : 0},
            {"windows_gpu_timed", phase.cost ? phase.cost->gpu_timed : 0}};
  if (!phase.name.empty()) j["name"] = phase.name;
  if (phase.estimated > 0) j["iterations_estimated"] = phase.estimated;
  if (phase.launches > 0) j["launches_per_iteration"] = phase.launches;
  if (!phase.outer.empty()) j["outer"] = phase.outer;
  if (phase.pace) j["pace_s"] = phase.pace->value();
  if (phase.cost) {
    put(j, "time_per_iteration_s", "time_interval95_s", phase.cost->time_s);
    put(j, "energy_per_iteration_j", "energy_interval95_j", phase.cost->energy_j);
    put(j, "energy_disagreement", phase.cost->energy_disagreement);
    put(j, "sm_mhz", phase.cost->sm_mhz);
    put(j, "power_w", phase.cost->power_w);
  }
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

// "605 W at 1890 MHz" and the like, for one iteration.
std::string cost_words(const SettingCost& cost) {
  std::string text;
  if (cost.time_s) text += ", " + duration_text(*cost.time_s);
  if (cost.energy_j) text += " and " + amount_text(*cost.energy_j, "J");
  if (cost.time_s) text += " each";
  if (cost.power_w) text += fmt::format(", {:.0f} W", cost.power_w->value);
  if (cost.sm_mhz) text += fmt::format(" at {:.0f} MHz", cost.sm_mhz->value);
  return text;
}

std::string windows_words(const SettingCost& cost) {
  std::string text = fmt::format("      from {} window{}, {} of them on the GPU's own clock",
                                 cost.windows, cost.windows == 1 ? "" : "s", cost.gpu_timed);
  if (cost.energy_disagreement) {
    // Never "-0.0".
    const double percent = std::round(*cost.energy_disagreement * 1000) / 10 + 0.0;
    text += fmt::format("; energy counter {:+.1f} % against power samples", percent);
  }
  return text + "\n";
}

// `costs`: with what an iteration costs, which the controller's lines tell otherwise.
std::string text_of(const PhaseReport& phase, bool several, bool costs) {
  std::string line = "    ";
  if (!phase.name.empty()) {
    line += fmt::format("{}: ", phase.name);
  } else if (several) {
    line += fmt::format("phase {}: ", phase.phase);
  }
  line += fmt::format("{:.0f} iterations", phase.iterations);
  if (phase.estimated > 0) line += fmt::format(" ({:.0f} of them estimated)", phase.estimated);
  if (phase.micro_batches > 1) line += fmt::format(" of {:.0f} micro-batches", phase.micro_batches);
  const std::optional<SettingCost>& cost = phase.cost;
  if (cost && costs) line += cost_words(*cost);
  if (cost && costs && cost->time_s && phase.pace &&
      phase.pace->value() > kPausedShare * cost->time_s->value) {
    line += fmt::format("; {} with its pauses", duration_text({phase.pace->value()}));
  }
  line += "\n";
  if (cost && costs) line += windows_words(*cost);
  for (const auto& [reason, count] : phase.unusable) {
    line += fmt::format("      {} of {} not fit for decisions: {}\n", count,
                        counted(phase.windows, "window"), reason);
  }
  return line;
}

std::string text_of(const ProcessReport& process, bool costs) {
  std::string text = fmt::format("  process {} ({})", process.pid, process.name);
  if (!process.devices.empty()) text += fmt::format(" on GPU {}", fmt::join(process.devices, ", "));
  if (process.phases.empty()) {
    text += ": no iterations found";
    if (process.launch_rate) {
      text += fmt::format("; {:.0f} ± {:.0f} launches a second", process.launch_rate->per_second,
                          normal_half_width95() * process.launch_rate->standard_error);
    }
    return text + "\n";
  }
  text += fmt::format(", iterations known for {:.0f} % of {:.1f} s, from {}\n",
                      process.coverage * 100, process.seen.value(), process.source);
  for (const PhaseReport& phase : process.phases) {
    text += text_of(phase, process.phases.size() > 1, costs);
  }
  return text;
}

}  // namespace

nlohmann::json to_json(const RunSummary& summary) {
  json j = {{"job", job_json(summary.figures)},
            {"seconds", summary.duration.value()},
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
  if (summary.attached.empty()) {
    text += summary.end.signal ? fmt::format(", killed by signal {}", *summary.end.signal)
                               : fmt::format(" with exit code {}", summary.end.code);
  }
  for (const GpuReport& gpu : summary.gpus) {
    if (gpu.energy) text += fmt::format("; GPU {} used {:.0f} J", gpu.device, gpu.energy->value());
  }
  text += "\n";
  if (const std::string job = job_text(summary.figures.job()); !job.empty()) {
    text += "  " + job + "\n";
  }
  if (const auto bill = summary.figures.bill()) text += "  " + bill_text(*bill) + "\n";
  for (const ProcessReport& process : summary.processes) {
    text += text_of(process, !summary.clocks_moved);
  }
  for (const std::string& note : summary.notes) text += "  note: " + note + "\n";
  return text;
}

}  // namespace hypermile
