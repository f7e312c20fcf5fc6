// SPDX-License-Identifier: Apache-2.0
//
// `hypermile learn`: trains the predictors on measured sweeps and says how well they do on
// workloads and cards that were left out of the training. Rows that make no sense are reported and
// skipped.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/terminal_text.h"
#include "cli/command.h"
#include "predict/model_file.h"
#include "predict/train.h"

namespace hypermile {
namespace {

// This many problems are printed; the rest are counted.
constexpr std::size_t kProblemsShown = 20;

void tell_problems(const ExampleSet& set, std::ostream& err) {
  for (std::size_t i = 0; i < std::min(kProblemsShown, set.problems.size()); ++i) {
    err << "hypermile: " << set.problems[i] << "\n";
  }
  if (set.problems.size() > kProblemsShown) {
    err << fmt::format("hypermile: and {} more\n", set.problems.size() - kProblemsShown);
  }
}

nlohmann::json json_of(const Scores& scores) {
  return {{"rows", scores.rows},
          {"time_mae", scores.time_mae},
          {"energy_mae", scores.energy_mae},
          {"coverage90", scores.coverage90}};
}

nlohmann::json json_of(const Model& model, const ExampleSet& set) {
  nlohmann::json sources = nlohmann::json::array();
  for (const ExampleSource& s : set.sources) {
    sources.push_back({{"name", s.name}, {"hash", s.hash}, {"rows", s.rows}, {"jobs", s.jobs}});
  }
  nlohmann::json out = json_of(model.by_workload);
  out["kind"] = to_string(model.kind);
  out["workloads"] = set.examples.size();
  for (const CardProfile& card : model.cards) out["cards"].push_back(card.card);
  out["trained_on"] = std::move(sources);
  out["problems"] = set.problems.size();
  if (model.by_card) out["by_card"] = json_of(*model.by_card);
  return out;
}

std::string line_of(std::string_view what, const Scores& scores) {
  return fmt::format(
      "{}: mean error of time {:.2f} %, of energy {:.2f} %, {:.0f} % within their bounds, {} "
      "rows\n",
      what, 100 * scores.time_mae, 100 * scores.energy_mae, 100 * scores.coverage90, scores.rows);
}

Result<void> run_learn(const CommandArguments& arguments, CommandContext& context) {
  const OptionValues& values = arguments.options;
  if (arguments.positional.empty()) {
    return Error{ErrorCode::kUsage, "no sweep to learn from", "name one or more F.csv"};
  }
  if (!values.given("out")) {
    return Error{ErrorCode::kUsage, "nowhere to write the model to", "give --out MODEL.json"};
  }
  TrainingOptions options;
  const auto kind = model_kind_from(values.text("kind"));
  if (!kind) {
    return Error{ErrorCode::kUsage, fmt::format("--kind: no such model '{}'", values.text("kind")),
                 "one of boosted, analytic, joined"};
  }
  options.kind = *kind;
  options.boosting.seed = static_cast<std::uint64_t>(values.integer("seed"));
  ASSIGN_OR_RETURN(const ExampleSet set, read_examples(arguments.positional));
  tell_problems(set, context.err);
  ASSIGN_OR_RETURN(Model model, train(set.examples, options));
  model.sources = set.sources;
  RETURN_IF_ERROR(write_model(model, values.text("out")));
  if (values.flag("json")) {
    context.out
        << json_of(model, set).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
        << "\n";
    return {};
  }
  context.out << fmt::format(
      "{} of {} in {}; {}\n", counted(set.examples.size(), "job"),
      counted(model.cards.size(), "card"), counted(set.sources.size(), "file"),
      set.problems.empty() ? "no problem" : counted(set.problems.size(), "problem"));
  context.out << line_of("workloads left out", model.by_workload);
  if (model.by_card) context.out << line_of("cards left out", *model.by_card);
  context.out << fmt::format("wrote {}\n", values.text("out"));
  return {};
}

}  // namespace

const Command kLearnCommand = {
    "learn",
    "train the predictors on measured sweeps",
    "sweeps",
    "  hypermile learn sweep.csv --out model.json\n"
    "  hypermile learn v100.csv a100.csv --kind joined --out model.json --json\n",
    run_learn,
    /*runs_command=*/false,
    /*holds_nothing=*/true,
};

}  // namespace hypermile
