// SPDX-License-Identifier: Apache-2.0
#include "cli/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/csv.h"
#include "cli/policy_results.h"
#include "policy/policies.h"
#include "predict/examples.h"
#include "predict/model_file.h"
#include "predict/model_predictor.h"
#include "predict/ratio_prediction.h"
#include "trial/replayed_run.h"

namespace hypermile {
namespace {

// As --model: the policy starts from neither a model nor the judge's guess.
constexpr const char* kNoModel = "none";

Error usage(std::string message, std::string remedy) {
  return Error{ErrorCode::kUsage, std::move(message), std::move(remedy)};
}

Result<void> check(const EvaluateOptions& options) {
  const Conditions& c = options.conditions;
  if (options.sweeps.empty()) return usage("no sweep to replay", "name one or more F.csv");
  if (options.policies.empty()) return usage("no policy to judge", "name one with --policy");
  if (options.repeats == 0) return usage("--repeat must be at least 1", "leave it out for 1");
  if (!(c.iterations >= 1 && c.iterations <= 1e7)) {
    return usage(fmt::format("--iterations {:g} is not a job's length", c.iterations),
                 "give 1 to 10000000");
  }
  for (const double noise : {c.time_noise, c.power_noise, c.drift}) {
    if (!(noise >= 0 && noise <= 0.5)) {
      return usage(fmt::format("noise and drift must be 0 to 50 %, not {:g}", noise),
                   "write 1% or 0.01");
    }
  }
  return {};
}

struct ListedCurve {
  std::string set;
  JobKey key;
  auto operator<=>(const ListedCurve&) const = default;
};

Result<std::set<ListedCurve>> read_curve_list(const std::string& path) {
  std::ifstream in(path);
  if (!in) return Error{ErrorCode::kNotFound, path + ": cannot be read", "check --curves"};
  ASSIGN_OR_RETURN(CsvReader reader, CsvReader::open(in, path));
  const auto set = reader.column("set");
  const auto gpu = reader.column("gpu");
  const auto workload = reader.column("workload");
  if (!set || !gpu || !workload) return reader.error("expected the columns set, gpu, workload");
  const auto phase = reader.column("phase");
  const auto variant = reader.column("variant");
  std::set<ListedCurve> listed;
  while (true) {
    ASSIGN_OR_RETURN(const auto cells, reader.next());
    if (!cells) return listed;
    listed.insert(
        {(*cells)[*set], JobKey{(*cells)[*gpu], (*cells)[*workload], phase ? (*cells)[*phase] : "",
                                variant ? (*cells)[*variant] : ""}});
  }
}

void add(CurveQuirks& sum, const CurveQuirks& more) {
  sum.repeats_averaged += more.repeats_averaged;
  sum.defaults_averaged += more.defaults_averaged;
  sum.above_default += more.above_default;
  sum.below_floor += more.below_floor;
  sum.other_knobs += more.other_knobs;
  sum.curves_without_default += more.curves_without_default;
  sum.curves_without_choice += more.curves_without_choice;
}

Result<std::vector<Curve>> load_curves(const EvaluateOptions& options, Evaluation& evaluation) {
  std::set<ListedCurve> listed;
  if (options.curve_list) {
    ASSIGN_OR_RETURN(listed, read_curve_list(*options.curve_list));
  }
  std::vector<Curve> curves;
  for (const std::string& text : options.sweeps) {
    ASSIGN_OR_RETURN(const SweepReference reference, parse_sweep_reference(text));
    ASSIGN_OR_RETURN(const SweepFile file, read_sweep(reference.path));
    evaluation.rows_without_time += file.rows_without_time;
    evaluation.rows_without_power += file.rows_without_power;
    CurveSet set = make_curves(file, {.knobs = options.knobs, .step = reference.step});
    add(evaluation.quirks, set.quirks);
    const std::filesystem::path path = std::filesystem::absolute(reference.path);
    const std::string folder = path.parent_path().filename().string();
    for (Curve& curve : set.curves) {
      if (options.curve_list && !listed.contains({folder, curve.key})) continue;
      curves.push_back(std::move(curve));
    }
  }
  if (curves.empty()) {
    return Error{ErrorCode::kNotFound, "no curve with a default and a choice in these sweeps",
                 "a sweep marks its default rows with is_default; check --knobs too"};
  }
  return curves;
}

// Features of the curves at their defaults, from which a model predicts.
Result<std::map<JobKey, Features>> read_features(const EvaluateOptions& options) {
  std::map<JobKey, Features> features;
  for (const std::string& text : options.sweeps) {
    ASSIGN_OR_RETURN(const SweepReference reference, parse_sweep_reference(text));
    ASSIGN_OR_RETURN(const ExampleSet set, read_examples({reference.path}));
    for (const Example& example : set.examples) features[example.key] = example.features;
  }
  return features;
}

// As replay(), with a model's prediction in place of the judge's guess.
Result<ReplayJob> replay_with_model(const EvaluateOptions& options) {
  std::shared_ptr<const Predictor> predictor;
  std::map<JobKey, Features> features;
  if (*options.model != kNoModel) {
    ASSIGN_OR_RETURN(Model model, read_model(*options.model));
    ASSIGN_OR_RETURN(features, read_features(options));
    predictor = std::make_shared<const ModelPredictor>(std::move(model));
  }
  return ReplayJob([predictor, features = std::move(features)](
                       const Curve& curve, std::string_view policy, std::size_t repeat,
                       const Conditions& conditions) -> Result<RunResult> {
    const std::uint64_t seed = replay_seed(curve, policy, repeat, conditions);
    PolicyContext context = context_for(curve, conditions, seed);
    if (const auto known = features.find(curve.key); known != features.end()) {
      context.predict = make_ratio_prediction(predictor, curve.key.gpu, context, known->second);
    }
    ASSIGN_OR_RETURN(const auto made, make_policy(policy, context));
    ASSIGN_OR_RETURN(RunResult result, replay(curve, *made, conditions, seed));
    result.policy = policy;
    result.repeat = repeat;
    return result;
  });
}

Result<ReplayJob> player(const EvaluateOptions& options) {
  if (options.play) return options.play;
  if (options.model && options.controller) {
    return usage("--model and --controller do not go together", "leave one of them out");
  }
  if (options.model) return replay_with_model(options);
  return options.controller ? ReplayJob(replay_controlled) : ReplayJob();
}

}  // namespace

Result<Evaluation> run_evaluate(const EvaluateOptions& options) {
  RETURN_IF_ERROR(check(options));
  Evaluation evaluation;
  ASSIGN_OR_RETURN(const std::vector<Curve> curves, load_curves(options, evaluation));
  evaluation.curves = curves.size();
  ASSIGN_OR_RETURN(const ReplayJob play, player(options));
  ASSIGN_OR_RETURN(evaluation.runs, hold_tournament(curves, options.policies, options.repeats,
                                                    options.conditions, options.threads, play));
  evaluation.summary = summarise(evaluation.runs);
  return evaluation;
}

nlohmann::json to_json(const Evaluation& evaluation) {
  nlohmann::json runs = nlohmann::json::array();
  for (const RunResult& run : evaluation.runs) runs.push_back(to_json(run));
  nlohmann::json summary = nlohmann::json::array();
  for (const PolicySummary& s : evaluation.summary) summary.push_back(to_json(s));
  return {{"curves", evaluation.curves},
          {"rows_without_time", evaluation.rows_without_time},
          {"rows_without_power", evaluation.rows_without_power},
          {"runs", std::move(runs)},
          {"summary", std::move(summary)}};
}

std::string to_table(const Evaluation& evaluation) {
  std::string out = policy_table_text(evaluation.summary);
  out += fmt::format(
      "{} curve{}; mean oracle saving {:.2f} %; left out: {} rows without time, {} without\n"
      "power, {} points above the default, {} below 0.4 of its clock\n",
      evaluation.curves, evaluation.curves == 1 ? "" : "s",
      evaluation.summary.empty() ? 0 : 100 * evaluation.summary.front().mean_oracle_saved,
      evaluation.rows_without_time, evaluation.rows_without_power, evaluation.quirks.above_default,
      evaluation.quirks.below_floor);
  return out;
}

}  // namespace hypermile
