// SPDX-License-Identifier: Apache-2.0
#include "control/control_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/terminal_text.h"
#include "record/figures_json.h"
#include "record/figures_text.h"
#include "record/setting_json.h"

namespace hypermile {
namespace {

using nlohmann::json;

const JobPhase* find(const std::vector<JobPhase>& phases, const PhaseControl& control) {
  const auto found = std::ranges::find_if(phases, [&](const JobPhase& each) {
    return each.process == control.process && each.phase == control.phase;
  });
  return found != phases.end() ? &*found : nullptr;
}

std::string text_of(const PhaseControl& phase, const JobPhase& measured, bool several) {
  std::string label;
  if (!phase.name.empty()) {
    label = phase.name + ": ";
  } else if (several) {
    label = fmt::format("phase {}: ", phase.phase);
  }
  if (!phase.why_left_alone.empty()) {
    return fmt::format("    {}left at the driver's default: {}\n", label, phase.why_left_alone);
  }
  const std::string kept = kept_text(measured, label);
  std::string text = default_text(measured, label) + kept;
  if (!phase.held) {
    text += fmt::format("    {}the search was not over\n", label);
  } else if (phase.kept.empty() && phase.shares.size() < 2) {
    text += fmt::format("    {}kept the driver's default: nothing better was found\n", label);
  }
  if (phase.settled_after) {
    text += fmt::format("      found after {:.0f} s and {} probes: {}\n",
                        phase.settled_after->value(), phase.probes, phase.why_kept);
  }
  if (phase.predicted_without_counters) {
    text += fmt::format(
        "      {}the model predicted without performance counters, which could not be read\n",
        label);
  }
  return text + tried_text(measured);
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

std::string to_text(const ControlOutcome& outcome, const RunFigures& figures) {
  const ControlSummary& summary = outcome.summary;
  std::string text = "  clocks";
  if (summary.setting_changes == 0) {
    text += " were not changed";
  } else {
    text += fmt::format(
        " of {} were changed {} and {}", counted(summary.gpus.size(), "GPU"),
        summary.setting_changes == 1 ? "once" : fmt::format("{} times", summary.setting_changes),
        summary.restored ? "given back" : "could NOT all be given back");
  }
  if (!over(summary.state) || summary.setting_changes == 0) {
    text += fmt::format(": {}", summary.reason.empty() ? to_string(summary.state) : summary.reason);
  }
  text += "\n";
  const std::vector<JobPhase> measured = figures.job_phases();
  for (const PhaseControl& phase : summary.phases) {
    const JobPhase* found = find(measured, phase);
    text += text_of(phase, found != nullptr ? *found : JobPhase{}, summary.phases.size() > 1);
  }
  const auto bound = effective_bound(outcome.objective);
  if (bound && summary.setting_changes > 0) text += bound_text(figures.job(), *bound);
  text += why_stopped(summary);
  if (outcome.expected) text += to_text(*outcome.expected, outcome.objective);
  return text;
}

nlohmann::json to_json(const Expectation& expected) {
  return {{"measured", false},
          {"saved_low", expected.low},
          {"saved_median", expected.median},
          {"saved_high", expected.high},
          {"slowdown_median", expected.slowdown},
          {"setting", setting_json(expected.setting)}};
}

nlohmann::json to_json(const ControlOutcome& outcome, const RunFigures& figures) {
  json j = to_json(outcome.summary);
  const std::vector<JobPhase> measured = figures.job_phases();
  for (std::size_t i = 0; i < outcome.summary.phases.size(); ++i) {
    const PhaseControl& phase = outcome.summary.phases[i];
    json& entry = j["phases"][i];
    entry["measured"] = json::array();
    const JobPhase* found = find(measured, phase);
    if (found == nullptr) continue;
    for (const SettingCost& cost : found->settings) entry["measured"].push_back(cost_json(cost));
    if (found->kept) entry["kept_measured"] = cost_json(*found->kept);
  }
  if (outcome.expected) j["expected"] = to_json(*outcome.expected);
  return j;
}

}  // namespace hypermile
