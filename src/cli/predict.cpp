// SPDX-License-Identifier: Apache-2.0
//
// `hypermile predict`: asks a model. With --check it compares predicted with measured values of a
// sweep. Otherwise it prints the predicted curve of each job in a sweep, with bounds, and the
// setting that the objective would choose; only the default rows of the sweep are used, with their
// features.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/command.h"
#include "cli/judging_options.h"
#include "predict/baselines.h"
#include "predict/check.h"
#include "predict/feature_columns.h"
#include "predict/model_file.h"
#include "predict/model_predictor.h"

namespace hypermile {
namespace {

constexpr double kConfidence = 0.5;
// Clocks to predict without --check, as shares of the default clock.
constexpr double kRatios[] = {0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6};

struct Asked {
  JobKey key;
  Features features;
};

// The jobs of a sweep, whether or not anything but the default was measured.
Result<std::vector<Asked>> read_jobs(const std::string& path, std::ostream& err) {
  ASSIGN_OR_RETURN(const SweepFile file, read_sweep(path, {true, feature_columns()}));
  for (const std::string& problem : file.problems) err << "hypermile: " << problem << "\n";
  std::vector<std::pair<JobKey, std::vector<const SweepRow*>>> defaults;
  for (const SweepRow& row : file.rows) {
    if (!row.is_default) continue;
    const auto same = [&](const auto& group) { return group.first == row.key; };
    auto found = std::ranges::find_if(defaults, same);
    if (found == defaults.end()) found = defaults.insert(found, {row.key, {}});
    found->second.push_back(&row);
  }
  if (defaults.empty()) {
    return Error{ErrorCode::kParse, path + ": no usable default row",
                 "mark the default's rows with is_default=1; see docs/reference/sweep-file.md"};
  }
  std::vector<Asked> asked;
  for (const auto& group : defaults) asked.push_back({group.first, mean_features(group.second)});
  return asked;
}

nlohmann::json json_of(const Bounded& bounded) {
  return {{"value", bounded.value}, {"low", bounded.low}, {"high", bounded.high}};
}

Result<void> run_check(const ModelPredictor& model, const std::string& path, bool json,
                       CommandContext& context) {
  ASSIGN_OR_RETURN(const ExampleSet set, read_examples({path}));
  for (const std::string& problem : set.problems) context.err << "hypermile: " << problem << "\n";
  Checker own;
  Checker mean;
  const MeanCurvePredictor baseline(model.model().mean);
  for (const Example& example : set.examples) {
    own.add(model, example);
    mean.add(baseline, example);
  }
  const CheckResult r = own.result();
  const CheckResult b = mean.result();
  if (json) {
    const nlohmann::json out = {
        {"rows", r.rows},
        {"workloads", r.workloads},
        {"time_mae", r.time_mae},
        {"energy_mae", r.energy_mae},
        {"coverage90", r.coverage90},
        {"time_within", r.time_within},
        {"energy_within", r.energy_within},
        {"time_width", r.time_width},
        {"energy_width", r.energy_width},
        {"baseline_mean_curve", {{"time_mae", b.time_mae}, {"energy_mae", b.energy_mae}}}};
    context.out << out.dump() << "\n";
    return {};
  }
  context.out << fmt::format(
      "{} rows of {} jobs: mean error of time {:.2f} %, of energy {:.2f} %, {:.0f} % within their "
      "bounds; mean curve of the training: {:.2f} %, {:.2f} %\n",
      r.rows, r.workloads, 100 * r.time_mae, 100 * r.energy_mae, 100 * r.coverage90,
      100 * b.time_mae, 100 * b.energy_mae);
  return {};
}

// The curve runs along the SM clock, or along the memory clock with --knobs mem.
std::vector<RelativeSetting> asked_settings(const std::vector<Knob>& knobs) {
  const bool memory = knobs.size() == 1 && knobs[0] == Knob::kMemoryClock;
  std::vector<RelativeSetting> settings;
  for (const double ratio : kRatios) {
    settings.push_back(memory ? RelativeSetting{1, ratio, {}} : RelativeSetting{ratio, 1, {}});
  }
  return settings;
}

std::string table_of(const Asked& asked, std::span<const RelativeSetting> settings,
                     std::span<const RatioEstimate> estimates, std::size_t chosen) {
  std::string out = to_string(asked.key) + "\n  clock   time               energy\n";
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const RatioEstimate& e = estimates[i];
    out += fmt::format("  {:.2f}    {:.3f} {:.3f}–{:.3f}  {:.3f} {:.3f}–{:.3f}{}\n",
                       std::min(settings[i].sm, settings[i].memory), e.time.value, e.time.low,
                       e.time.high, e.energy.value, e.energy.low, e.energy.high,
                       i == chosen ? "  best" : "");
  }
  if (chosen == settings.size()) out += "  best: the default\n";
  return out;
}

nlohmann::json json_of(const Asked& asked, std::span<const RelativeSetting> settings,
                       std::span<const RatioEstimate> estimates, std::size_t chosen) {
  nlohmann::json curve = nlohmann::json::array();
  for (std::size_t i = 0; i < settings.size(); ++i) {
    curve.push_back({{"sm", settings[i].sm},
                     {"mem", settings[i].memory},
                     {"time", json_of(estimates[i].time)},
                     {"energy", json_of(estimates[i].energy)}});
  }
  nlohmann::json best = nullptr;
  if (chosen < settings.size()) best = curve[chosen];
  return {{"job", to_string(asked.key)},
          {"features", asked.features.known()},
          {"curve", std::move(curve)},
          {"best", std::move(best)}};
}

Result<void> run_predict(const CommandArguments& arguments, CommandContext& context) {
  const OptionValues& values = arguments.options;
  if (!values.given("model")) {
    return Error{ErrorCode::kUsage, "no model to ask", "give --model MODEL.json"};
  }
  const bool json = values.flag("json");
  ASSIGN_OR_RETURN(Model model, read_model(values.text("model")));
  const ModelPredictor predictor(std::move(model));
  if (values.given("check")) return run_check(predictor, values.text("check"), json, context);
  if (arguments.positional.size() != 1) {
    return Error{ErrorCode::kUsage, "one sweep is needed whose default rows hold features",
                 "name F.csv, or --check F.csv to compare with what was measured"};
  }
  ASSIGN_OR_RETURN(const Objective objective, read_objective(values));
  ASSIGN_OR_RETURN(const std::vector<Knob> knobs, read_knobs(values));
  ASSIGN_OR_RETURN(const auto jobs, read_jobs(arguments.positional[0], context.err));
  const auto settings = asked_settings(knobs);
  nlohmann::json out = nlohmann::json::array();
  for (const Asked& asked : jobs) {
    const auto estimates = predictor.predict(asked.features, asked.key.gpu, settings);
    const std::size_t chosen = choose(estimates, objective, kConfidence);
    if (json) {
      out.push_back(json_of(asked, settings, estimates, chosen));
    } else {
      context.out << table_of(asked, settings, estimates, chosen);
    }
  }
  if (json) context.out << nlohmann::json{{"jobs", std::move(out)}}.dump() << "\n";
  return {};
}

}  // namespace

const Command kPredictCommand = {
    "predict",
    "ask a trained model for time and energy at other clocks",
    "sweep",
    "  hypermile predict --model model.json sweep.csv --max-slowdown 5%\n"
    "  hypermile predict --model model.json --check sweep.csv --json\n",
    run_predict,
    /*runs_command=*/false,
    /*holds_nothing=*/true,
};

}  // namespace hypermile
