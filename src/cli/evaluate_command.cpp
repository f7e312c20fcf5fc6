// SPDX-License-Identifier: Apache-2.0
//
// `hypermile evaluate`: the command line of evaluate.h.
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/command.h"
#include "cli/evaluate.h"
#include "cli/judging_options.h"

namespace hypermile {
namespace {

Result<EvaluateOptions> read_options(const CommandArguments& arguments) {
  const OptionValues& values = arguments.options;
  EvaluateOptions options;
  options.sweeps = arguments.positional;
  options.policies = read_policies(values);
  options.repeats = static_cast<std::size_t>(values.integer("repeat"));
  ASSIGN_OR_RETURN(options.conditions.objective, read_objective(values));
  options.conditions.iterations = static_cast<double>(values.integer("iterations"));
  options.conditions.time_noise = values.number("time-noise");
  options.conditions.power_noise = values.number("power-noise");
  options.conditions.drift = values.number("drift");
  options.conditions.seed = static_cast<std::uint64_t>(values.integer("seed"));
  ASSIGN_OR_RETURN(options.knobs, read_knobs(values));
  options.controller = values.flag("controller");
  options.conditions.guard = values.flag("guard");
  options.conditions.steady = values.flag("steady");
  // Of all policies, those that a table of settings can feed.
  if (values.text("policy") == "all" && !options.controller) {
    std::erase(options.policies, "gpoeo-published");
  }
  if (values.given("model")) options.model = values.text("model");
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
    /*runs_command=*/false,
    /*holds_nothing=*/true,
};

}  // namespace hypermile
