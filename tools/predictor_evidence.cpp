// SPDX-License-Identifier: Apache-2.0
//
// Prints the tables of docs/evidence/predictors.md: predictors against baselines on public sweeps,
// whole workloads or whole cards left out. `scripts/evidence/predictors` calls it.
//
//   predictor_evidence DATA_FOLDER [PART…]      parts: workloads cards choice speed
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <set>

#include "predict/baselines.h"
#include "predict/check.h"
#include "predict/model_predictor.h"
#include "predict/train.h"

namespace hypermile {
namespace {

using Maker = std::function<Result<std::unique_ptr<Predictor>>(std::vector<Example>)>;

struct Contender {
  std::string name;
  Maker make;
};

Maker model_maker(ModelKind kind) {
  return [kind](std::vector<Example> examples) -> Result<std::unique_ptr<Predictor>> {
    TrainingOptions options;
    options.kind = kind;
    ASSIGN_OR_RETURN(Model model, train(examples, options));
    return std::unique_ptr<Predictor>(std::make_unique<ModelPredictor>(std::move(model)));
  };
}

template <class Baseline>
Result<std::unique_ptr<Predictor>> baseline(std::vector<Example> examples) {
  return std::unique_ptr<Predictor>(std::make_unique<Baseline>(mean_curve(examples)));
}

std::vector<Contender> contenders() {
  return {
      {"mean curve", baseline<MeanCurvePredictor>},
      {"roofline", baseline<RooflinePredictor>},
      {"nearest job",
       [](std::vector<Example> examples) -> Result<std::unique_ptr<Predictor>> {
         return std::unique_ptr<Predictor>(std::make_unique<NearestPredictor>(std::move(examples)));
       }},
      {"boosted", model_maker(ModelKind::kBoosted)},
      {"analytic", model_maker(ModelKind::kAnalytic)},
      {"joined", model_maker(ModelKind::kJoined)}};
}

struct CounterSet {
  std::string title;
  std::string folder;
  std::string gpu;  // of the sweep's cards this one
};

const CounterSet kSets[] = {
    {"V100, DCGM", "nvdvfs_v100_dcgm", "V100"},
    {"A100, DCGM", "ttu_a100_v100", "A100-SXM4-80GB"},
    {"GTX 980, nvprof", "nvdvfs_gtx980", "GTX 980"},
    {"V100, nvprof", "nvdvfs_v100_nvprof", "V100"},
};

Result<std::vector<Example>> load(const std::string& data, const CounterSet& set) {
  ASSIGN_OR_RETURN(ExampleSet all, read_examples({data + "/" + set.folder + "/data.csv"}));
  std::erase_if(all.examples, [&](const Example& e) { return e.key.gpu != set.gpu; });
  return std::move(all.examples);
}

// What of `examples` is of another workload than `group`.
std::vector<Example> without(const std::vector<Example>& examples, const std::string& group) {
  std::vector<Example> rest;
  std::ranges::copy_if(examples, std::back_inserter(rest),
                       [&](const Example& e) { return e.group != group; });
  return rest;
}

struct Outcome {
  Checker checker;
  ChoiceChecker even{Objective{}, 0.5};
  ChoiceChecker sure{Objective{}, 0.9};
};

// Each workload once left out of the training; `tested` are among `training`.
Result<Outcome> leave_workloads_out(const Contender& contender,
                                    const std::vector<Example>& training,
                                    const std::vector<Example>& tested) {
  std::set<std::string> groups;
  for (const Example& example : tested) groups.insert(example.group);
  Outcome outcome;
  for (const std::string& group : groups) {
    ASSIGN_OR_RETURN(const auto predictor, contender.make(without(training, group)));
    for (const Example& example : tested) {
      if (example.group != group) continue;
      outcome.checker.add(*predictor, example);
      outcome.even.add(*predictor, example);
      outcome.sure.add(*predictor, example);
    }
  }
  return outcome;
}

std::string row(const std::string& title, const std::string& name, const Outcome& outcome) {
  const CheckResult r = outcome.checker.result();
  const bool bounded = r.coverage90 > 0.02;
  return fmt::format("| {} | {} | {:.2f} | {:.2f} | {} |\n", title, name, 100 * r.time_mae,
                     100 * r.energy_mae, bounded ? fmt::format("{:.0f}", 100 * r.coverage90) : "–");
}

std::string choice_row(const std::string& title, const std::string& name, const Outcome& outcome) {
  const ChoiceResult even = outcome.even.result();
  const ChoiceResult sure = outcome.sure.result();
  return fmt::format("| {} | {} | {:.1f} | {:.1f} | {:.0f} | {:.1f} | {:.0f} |\n", title, name,
                     100 * even.oracle_saved, 100 * even.saved, 100 * even.violations,
                     100 * sure.saved, 100 * sure.violations);
}

Result<void> workloads(const std::string& data, bool pooled) {
  std::vector<std::vector<Example>> sets;
  std::vector<Example> all;
  for (const CounterSet& set : kSets) {
    ASSIGN_OR_RETURN(sets.emplace_back(), load(data, set));
    all.insert(all.end(), sets.back().begin(), sets.back().end());
  }
  std::string choices;
  fmt::print(
      "| tested on | predictor | time, % | energy, % | within 90 % bounds, % |\n"
      "| --- | --- | --- | --- | --- |\n");
  for (std::size_t i = 0; i <= sets.size(); ++i) {
    const bool last = i == sets.size();
    if (last != pooled && !(pooled && !last)) continue;
    if (pooled && !last) continue;
    const std::vector<Example>& tested = last ? all : sets[i];
    const std::string title = last ? "all four, one model" : kSets[i].title;
    for (const Contender& contender : contenders()) {
      ASSIGN_OR_RETURN(const Outcome outcome, leave_workloads_out(contender, tested, tested));
      fmt::print("{}", row(title, contender.name, outcome));
      std::fflush(stdout);
      choices += choice_row(title, contender.name, outcome);
    }
  }
  fmt::print(
      "\n| tested on | predictor | oracle saves, % | saves, % | over, % | saves if 90 % sure, % | "
      "over, % |\n| --- | --- | --- | --- | --- | --- | --- |\n{}",
      choices);
  return {};
}

}  // namespace
}  // namespace hypermile

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: predictor_evidence DATA_FOLDER [PART…]\n");
    return 2;
  }
  const bool pooled = argc > 2 && std::string_view(argv[2]) == "pooled";
  const auto done = hypermile::workloads(argv[1], pooled);
  if (!done) {
    fmt::print(stderr, "predictor_evidence: {}\n", done.error().line());
    return 1;
  }
  return 0;
}
