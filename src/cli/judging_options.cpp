// SPDX-License-Identifier: Apache-2.0
#include "cli/judging_options.h"

#include <fmt/format.h>

#include "base/nearest.h"
#include "policy/policies.h"

namespace hypermile {
namespace {

Result<Knob> parse_knob(const std::string& text) {
  std::vector<std::string> names;
  for (const Knob knob : kAllKnobs) {
    if (to_string(knob) == text) return knob;
    names.emplace_back(to_string(knob));
  }
  return Error{ErrorCode::kUsage, fmt::format("--knobs: unknown knob '{}'", text),
               suggestion(text, names)};
}

}  // namespace

Result<Objective> read_objective(const OptionValues& values) {
  ASSIGN_OR_RETURN(Objective objective, parse_objective(values.text("objective")));
  // Objectives that price time themselves have a bound only where the user gives one.
  if (objective.goal == Goal::kEnergy || values.given("max-slowdown")) {
    objective.max_slowdown = values.number("max-slowdown");
  }
  objective.host_power = Watts(values.number("host-watts"));
  if (values.given("power-budget")) objective.power_budget = Watts(values.number("power-budget"));
  return objective;
}

Result<std::vector<Knob>> read_knobs(const OptionValues& values) {
  std::vector<Knob> knobs;
  for (const std::string& text : values.list("knobs")) {
    ASSIGN_OR_RETURN(const Knob knob, parse_knob(text));
    knobs.push_back(knob);
  }
  return knobs;
}

std::vector<std::string> read_policies(const OptionValues& values) {
  if (values.text("policy") != "all") return values.list("policy");
  std::vector<std::string> names;
  for (const PolicyEntry& entry : policy_table()) {
    if (!entry.name.starts_with("fixed")) names.emplace_back(entry.name);
  }
  return names;
}

}  // namespace hypermile
