// SPDX-License-Identifier: Apache-2.0
#include "control/control_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "control/saving.h"

namespace hypermile {
namespace {

using nlohmann::json;

constexpr double kJoulesPerWattHour = 3600;

std::string with_interval(const WindowMean& mean, double scale, const char* unit) {
  const double value = *mean.mean() * scale;
  const int digits = value < 1 ? 4 : value < 100 ? 2 : 1;
  std::string text = fmt::format("{:.{}f}", value, digits);
  if (mean.interval95()) text += fmt::format(" ± {:.{}f}", *mean.interval95() * scale, digits);
  return text + " " + unit;
}

std::string percent(const Ratio& ratio) {
  if (!ratio.interval95) return fmt::format("{:.1f} %", 100 * ratio.value);
  return fmt::format("{:.1f} ± {:.1f} %", 100 * ratio.value, 100 * *ratio.interval95);
}

// "54.62 ± 0.03 ms and 33.10 ± 0.20 J an iteration"
std::string cost_of(const MeasuredSetting& measured) {
  std::vector<std::string> parts;
  if (measured.time.mean()) {
    const bool short_one = *measured.time.mean() < 1;
    parts.push_back(with_interval(measured.time, short_one ? 1e3 : 1, short_one ? "ms" : "s"));
  }
  if (measured.energy.mean()) parts.push_back(with_interval(measured.energy, 1, "J"));
  return fmt::format("{} an iteration, from {} windows", fmt::join(parts, " and "),
                     measured.time.windows());
}

std::string change_of(const PhaseControl& phase, const Setting& setting) {
  std::vector<std::string> parts;
  if (const auto saved = energy_saved(phase, setting)) {
    parts.push_back(percent(*saved) + " energy saved");
  }
  if (const auto lost = time_lost(phase, setting)) parts.push_back(percent(*lost) + " slower");
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Settings that were measured and neither are the default nor were kept.
std::string tried(const PhaseControl& phase) {
  std::vector<std::string> others;
  for (const MeasuredSetting& measured : phase.measured) {
    if (measured.setting.empty() || measured.setting == phase.kept) continue;
    others.push_back(
        fmt::format("{} ({})", to_string(measured.setting), change_of(phase, measured.setting)));
  }
  return others.empty() ? "" : fmt::format("      tried: {}\n", fmt::join(others, "; "));
}

std::string text_of(const PhaseControl& phase, bool several) {
  std::string label;
  if (!phase.name.empty()) {
    label = phase.name + ": ";
  } else if (several) {
    label = fmt::format("phase {}: ", phase.phase);
  }
  if (!phase.why_left_alone.empty()) {
    return fmt::format("    {}left at the driver's default: {}\n", label, phase.why_left_alone);
  }
  std::string text;
  if (const MeasuredSetting* usual = phase.at(Setting{}); usual && usual->time.mean()) {
    text += fmt::format("    {}default: {}\n", label, cost_of(*usual));
  }
  const MeasuredSetting* kept = phase.at(phase.kept);
  if (phase.held && !phase.kept.empty() && kept != nullptr && kept->time.mean()) {
    text += fmt::format("    {}kept {}: {}\n", label, to_string(phase.kept), cost_of(*kept));
    if (const std::string change = change_of(phase, phase.kept); !change.empty()) {
      text += "      " + change + "\n";
    }
  } else if (phase.held) {
    text += fmt::format("    {}kept the driver's default: nothing better was found\n", label);
  } else {
    text += fmt::format("    {}the search was not over when the job ended\n", label);
  }
  if (phase.settled_after) {
    text += fmt::format("      found after {:.0f} s and {} probes: {}",
                        phase.settled_after->value(), phase.probes, phase.why_kept);
    // A policy that never measured the default cannot be sure of anything.
    if (phase.at(Setting{}) != nullptr) {
      text += fmt::format(" ({:.0f} % sure of the bound)", 100 * phase.confidence);
    }
    text += "\n";
  }
  return text + tried(phase);
}

// Of all phases together, the search included; nullopt where nothing was measured off the default.
std::optional<Saving> total_saving(const ControlSummary& summary) {
  std::optional<Saving> total;
  for (const PhaseControl& phase : summary.phases) {
    const std::optional<Saving> saving = measured_saving(phase);
    if (!saving) continue;
    if (!total) total = Saving{0, 0.0, 0};
    total->joules += saving->joules;
    total->iterations += saving->iterations;
    if (total->interval95 && saving->interval95) {
      total->interval95 = std::hypot(*total->interval95, *saving->interval95);
    } else {
      total->interval95.reset();
    }
  }
  return total;
}

std::string text_of(const Saving& total) {
  const auto amount = [&](double scale, int digits) {
    std::string text = fmt::format("{:.{}f}", total.joules * scale, digits);
    if (total.interval95) text += fmt::format(" ± {:.{}f}", *total.interval95 * scale, digits);
    return text;
  };
  return fmt::format(
      "  saved {} J ({} Wh) in the {:.0f} iterations measured off the default, its search "
      "included\n",
      amount(1, 0), amount(1 / kJoulesPerWattHour, 3), total.iterations);
}

bool over(ControlState state) {
  return state == ControlState::kReleased;
}

// Why nothing more was done.
std::string why_stopped(const ControlSummary& summary) {
  if (!over(summary.state) || summary.phases.empty()) return "";
  const bool kept = summary.before_release == ControlState::kHold;
  return fmt::format("  stopped because {}, in the state '{}'{}\n", summary.reason,
                     to_string(summary.before_release),
                     kept ? ": the Setting kept was in force" : "");
}

}  // namespace

std::string to_text(const Expectation& expected, const Objective& objective) {
  const auto bound = effective_bound(objective);
  return fmt::format(
      "  not tried on this job: other jobs on such cards saved {:.0f} to {:.0f} % (half of them "
      "{:.0f} "
      "% or more){}, at about {}\n",
      100 * expected.low, 100 * expected.high, 100 * expected.median,
      bound ? fmt::format(" within {:.1f} % of their time", 100 * *bound) : "",
      to_string(expected.setting));
}

std::string to_text(const ControlOutcome& outcome) {
  const ControlSummary& summary = outcome.summary;
  std::string text = "  clocks";
  if (summary.setting_changes == 0) {
    text += " were not changed";
  } else {
    text += fmt::format(" of {} GPU(s) were changed {} times and {}", summary.gpus.size(),
                        summary.setting_changes,
                        summary.restored ? "given back" : "could NOT all be given back");
  }
  if (!over(summary.state) || summary.setting_changes == 0) {
    text += fmt::format(": {}", summary.reason.empty() ? to_string(summary.state) : summary.reason);
  }
  text += "\n";
  for (const PhaseControl& phase : summary.phases) {
    text += text_of(phase, summary.phases.size() > 1);
  }
  if (const auto total = total_saving(summary)) text += text_of(*total);
  text += why_stopped(summary);
  if (outcome.expected) text += to_text(*outcome.expected, outcome.objective);
  return text;
}

nlohmann::json to_json(const Expectation& expected) {
  json setting = json::object();
  if (expected.setting.sm_clock) setting["sm_mhz"] = expected.setting.sm_clock->value();
  if (expected.setting.memory_clock) setting["mem_mhz"] = expected.setting.memory_clock->value();
  if (expected.setting.power_limit) {
    setting["power_limit_w"] = expected.setting.power_limit->value();
  }
  return {{"measured", false},
          {"saved_low", expected.low},
          {"saved_median", expected.median},
          {"saved_high", expected.high},
          {"slowdown_median", expected.slowdown},
          {"setting", setting}};
}

nlohmann::json to_json(const ControlOutcome& outcome) {
  json j = to_json(outcome.summary);
  for (std::size_t i = 0; i < outcome.summary.phases.size(); ++i) {
    const PhaseControl& phase = outcome.summary.phases[i];
    json& entry = j["phases"][i];
    if (const auto saving = measured_saving(phase)) {
      entry["saved_j"] = saving->joules;
      entry["saved_iterations"] = saving->iterations;
      if (saving->interval95) entry["saved_interval95_j"] = *saving->interval95;
    }
    const auto put = [&entry](const char* key, const std::optional<Ratio>& ratio) {
      if (!ratio) return;
      entry[key] = ratio->value;
      if (ratio->interval95) entry[std::string(key) + "_interval95"] = *ratio->interval95;
    };
    if (phase.held) {
      put("kept_energy_saved", energy_saved(phase, phase.kept));
      put("kept_slowdown", time_lost(phase, phase.kept));
    }
  }
  if (const auto total = total_saving(outcome.summary)) {
    j["saved_j"] = total->joules;
    j["saved_wh"] = total->joules / kJoulesPerWattHour;
    if (total->interval95) j["saved_interval95_j"] = *total->interval95;
  }
  if (outcome.expected) j["expected"] = to_json(*outcome.expected);
  return j;
}

}  // namespace hypermile
