// SPDX-License-Identifier: Apache-2.0
//
// `hypermile evaluate`: the command line of evaluate.h.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/nearest.h"
#include "cli/command.h"
#include "cli/evaluate.h"
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

Result<Objective> read_objective(const OptionValues& values) {
  ASSIGN_OR_RETURN(Objective objective, parse_objective(values.text("objective")));
  // Objectives that price time themselves are bounded only when asked to be.
  if (objective.goal == Goal::kEnergy || values.given("max-slowdown")) {
    objective.max_slowdown = values.number("max-slowdown");
  }
  objective.host_power = Watts(values.number("host-watts"));
  if (values.given("power-budget")) objective.power_budget = Watts(values.number("power-budget"));
  return objective;
}

// Every policy of the table that can be made without being told more.
std::vector<std::string> all_policies() {
  std::vector<std::string> names;
  for (const PolicyEntry& entry : policy_table()) {
    if (!entry.name.starts_with("fixed")) names.emplace_back(entry.name);
  }
  return names;
}

Result<EvaluateOptions> read_options(const CommandArguments& arguments) {
  const OptionValues& values = arguments.options;
  EvaluateOptions options;
  options.sweeps = arguments.positional;
  options.policies = values.text("policy") == "all" ? all_policies() : values.list("policy");
  options.repeats = static_cast<std::size_t>(values.integer("repeat"));
  ASSIGN_OR_RETURN(options.conditions.objective, read_objective(values));
  options.conditions.iterations = static_cast<double>(values.integer("iterations"));
  options.conditions.time_noise = values.number("time-noise");
  options.conditions.power_noise = values.number("power-noise");
  options.conditions.drift = values.number("drift");
  options.conditions.seed = static_cast<std::uint64_t>(values.integer("seed"));
  for (const std::string& text : values.list("knobs")) {
    ASSIGN_OR_RETURN(const Knob knob, parse_knob(text));
    options.knobs.push_back(knob);
  }
  if (values.given("curves")) options.curve_list = values.text("curves");
  return options;
}

Result<void> run_evaluate_command(const CommandArguments& arguments, CommandContext& context) {
  ASSIGN_OR_RETURN(const EvaluateOptions options, read_options(arguments));
  ASSIGN_OR_RETURN(const Evaluation evaluation, run_evaluate(options));
  if (arguments.options.flag("json")) {
    context.out << to_json(evaluation).dump() << "\n";
  } else {
    context.out << to_table(evaluation);
  }
  return {};
}

}  // namespace

const Command kEvaluateCommand = {
    "evaluate",
    "replay measured sweeps as GPUs and score policies against default and oracle",
    "sweeps",
    "  hypermile evaluate sweep.csv --policy hypermile,gpoeo,zeus\n"
    "  hypermile evaluate dense.csv@15MHz --policy all --max-slowdown 2% --iterations 20000\n"
    "  hypermile evaluate sweep.csv --knobs limit --time-noise 2% --power-noise 2% --json\n",
    run_evaluate_command,
};

}  // namespace hypermile
