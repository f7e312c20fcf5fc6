// SPDX-License-Identifier: Apache-2.0
//
// An EnergyStatement as Markdown and as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/terminal_text.h"
#include "base/version.h"
#include "record/figures_text.h"
#include "record/statement.h"

namespace hypermile {
namespace {

using json = nlohmann::json;

constexpr const char* kMethod =
    "the energy counter of each GPU board, read through NVML, from the start of each run to its "
    "end, idle time and the search for settings included";
constexpr const char* kHostMethod = "RAPL counters of processors and memory, through powercap";
constexpr const char* kNotIncluded =
    "the rest of the hosts (fans, disks, network), power supplies, cooling (PUE), and anything "
    "that ran without hypermile";
constexpr const char* kUncertainty =
    "the error of the boards' own sensors is not known to hypermile and is not included";

std::string date(double unix_time) {
  return date_text(unix_time, DatePlace::kUtc) + " UTC";
}

double share(const MeteredEnergy& energy) {
  return energy.joules > 0 ? energy.estimated_j / energy.joules : 0;
}

// Four digits that count, never as a power of ten.
std::string amount(double value) {
  const double size = std::abs(value);
  const int digits = size > 0 ? 3 - static_cast<int>(std::floor(std::log10(size))) : 0;
  return fmt::format("{:.{}f}", value, std::clamp(digits, 0, 12));
}

// A log's text must neither steer a terminal nor leave its cell.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : harmless(text, text.size())) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string hardware_text(const EnergyStatement& s) {
  std::vector<std::string> parts;
  for (const EnergyStatement::Hardware& each : s.hardware) {
    parts.push_back(fmt::format("{} × {} (driver {})", each.gpus, each.name, each.driver));
  }
  return parts.empty() ? "no GPU is named in the logs" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string uncertainty_text(const EnergyStatement& s) {
  std::string text = kUncertainty;
  if (s.disagreement) {
    text += fmt::format("; counter and integrated power samples differ by {:.1f} % at most",
                        100 * *s.disagreement);
  }
  return text;
}

std::string counting_text(const EnergyStatement& s) {
  std::string text = fmt::format("{} in {}", counted(s.runs, "run"), counted(s.logs.size(), "log"));
  text += "; restarts and nodes are added";
  if (s.gpus.twice > 0) {
    text += fmt::format("; {} of a GPU that another log tells of too counted once",
                        counted(s.gpus.twice, "interval"));
  }
  if (s.copies > 0) text += fmt::format("; {} given twice and counted once", s.copies);
  return text;
}

const char* saved_name(const Estimate& saved_j) {
  return saved_j.value < 0 ? "used more than at default clocks" : "saved against default clocks";
}

std::string saved_text(const Estimate& saved_j) {
  std::string text = amount(std::abs(saved_j.value) / kJoulesPerKwh);
  if (saved_j.half_width95)
    text += fmt::format(" ± {}", amount(*saved_j.half_width95 / kJoulesPerKwh));
  text += saved_j.half_width95 ? " kWh (95 % interval)" : " kWh";
  return text + ", which the figures above hold already";
}

// What makes the sum smaller than the truth.
std::vector<std::string> gaps(const EnergyStatement& s) {
  std::vector<std::string> lines;
  if (s.cut_off > 0) {
    lines.push_back(
        fmt::format("{} without an end in the log: what came after the last line is missing",
                    counted(s.cut_off, "run")));
  }
  if (s.left_out > 0) lines.push_back(counted(s.left_out, "older run") + " not read");
  if (s.unreadable_lines > 0) {
    lines.push_back(counted(s.unreadable_lines, "line") + " of the logs not readable");
  }
  if (s.tariffs_differ) {
    lines.emplace_back(
        "the runs were given different prices or carbon intensities, and those of the newest are "
        "used "
        "for all: --price and --carbon name others");
  }
  return lines;
}

}  // namespace

std::string to_markdown(const EnergyStatement& s) {
  std::string out = "# Energy statement\n\n";
  if (s.simulated > 0) {
    out += fmt::format("**{} of {} simulated: this is no measurement.**\n\n", s.simulated,
                       counted(s.runs, "run"));
  }
  out += "| | |\n| --- | --- |\n";
  const auto row = [&](const std::string& name, const std::string& value) {
    out += fmt::format("| {} | {} |\n", name, cell(value));
  };
  row("energy", fmt::format("**{} kWh**", amount(s.kwh())));
  row("of the GPUs", fmt::format("{} kWh; {:.1f} % of it estimated",
                                 amount(s.gpus.joules / kJoulesPerKwh), 100 * share(s.gpus)));
  row("of processors and memory",
      s.hosts_metered > 0
          ? fmt::format("{} kWh, of {} of {} hosts", amount(s.host.joules / kJoulesPerKwh),
                        s.hosts_metered, s.hosts.size())
          : "not measured, not included");
  row("not included", kNotIncluded);
  row("hardware", hardware_text(s));
  row("hosts", fmt::format("{}", s.hosts.size()));
  row("time", fmt::format("{} GPU hours, {} to {}", amount(s.gpu_seconds / 3600),
                          date(s.first_unix), date(s.last_unix)));
  row("counted", counting_text(s));
  row("method", kMethod);
  if (s.hosts_metered > 0) row("method for hosts", kHostMethod);
  row("uncertainty", uncertainty_text(s));
  if (s.gpus.saved_j) row(saved_name(*s.gpus.saved_j), saved_text(*s.gpus.saved_j));
  if (s.tariff.carbon) {
    row("CO₂e",
        fmt::format("{} kg, at {:g} g/kWh ({})", amount(s.kwh() * s.tariff.carbon->g_per_kwh / 1e3),
                    s.tariff.carbon->g_per_kwh, s.tariff.carbon->source));
  }
  if (s.tariff.price) {
    row("cost",
        fmt::format("{} {}, at {:g} {}/kWh", amount(s.kwh() * s.tariff.price->per_kwh),
                    s.tariff.price->currency, s.tariff.price->per_kwh, s.tariff.price->currency));
  }
  for (const std::string& line : gaps(s)) row("gap", line);
  row("made by", fmt::format("hypermile {}", kVersion));
  return out;
}

nlohmann::json to_json(const EnergyStatement& s) {
  json hardware = json::array();
  for (const EnergyStatement::Hardware& each : s.hardware) {
    hardware.push_back({{"name", each.name}, {"driver", each.driver}, {"gpus", each.gpus}});
  }
  json j = {{"statement_version", 1},
            {"program", fmt::format("hypermile {}", kVersion)},
            {"energy_kwh", s.kwh()},
            {"gpu_kwh", s.gpus.joules / kJoulesPerKwh},
            {"share_estimated", share(s.gpus)},
            {"gpu_hours", s.gpu_seconds / 3600},
            {"begin_unix", s.first_unix},
            {"end_unix", s.last_unix},
            {"iterations", s.iterations},
            {"hardware", std::move(hardware)},
            {"hosts", s.hosts},
            {"jobs", s.jobs},
            {"logs", s.logs},
            {"runs", s.runs},
            {"runs_given_twice", s.copies},
            {"intervals_counted_once", s.gpus.twice},
            {"runs_cut_off", s.cut_off},
            {"runs_simulated", s.simulated},
            {"method", kMethod},
            {"uncertainty", uncertainty_text(s)},
            {"not_included", kNotIncluded},
            {"gaps", gaps(s)}};
  if (s.hosts_metered > 0) {
    j["host_kwh"] = s.host.joules / kJoulesPerKwh;
    j["hosts_metered"] = s.hosts_metered;
    j["host_method"] = kHostMethod;
  }
  if (s.disagreement) j["counter_disagreement"] = *s.disagreement;
  if (const auto& saved = s.gpus.saved_j) {
    j["saved_kwh"] = saved->value / kJoulesPerKwh;
    if (saved->half_width95) j["saved_interval95_kwh"] = *saved->half_width95 / kJoulesPerKwh;
  }
  if (s.tariff.carbon) {
    j["co2e_kg"] = s.kwh() * s.tariff.carbon->g_per_kwh / 1e3;
    j["carbon_g_per_kwh"] = s.tariff.carbon->g_per_kwh;
    j["carbon_source"] = s.tariff.carbon->source;
  }
  if (s.tariff.price) {
    j["cost"] = s.kwh() * s.tariff.price->per_kwh;
    j["currency"] = s.tariff.price->currency;
  }
  return j;
}

}  // namespace hypermile
