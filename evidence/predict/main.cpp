// SPDX-License-Identifier: Apache-2.0
//
// Prints the tables of docs/evidence/predictors.md: predictors and baselines on public sweeps, with
// whole workloads or whole cards left out. Called by scripts/evidence/predictors.
//
//   predict_evidence DATA_FOLDER workloads|pooled|cards|scales|limits|speed
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>

#include "evidence/predict/card_tables.h"
#include "evidence/predict/contenders.h"
#include "predict/check.h"
#include "predict/model_predictor.h"

namespace hypermile {
namespace {

struct Outcome {
  Checker checker;
  ChoiceChecker even{Objective{}, 0.5};
  ChoiceChecker sure{Objective{}, 0.9};
};

// Leaves each part of the workloads out of the training once; `part` maps a workload to its part.
Result<Outcome> leave_out(const Contender& contender, const std::vector<Example>& examples,
                          const std::map<std::string, std::size_t>& part, std::size_t parts) {
  Outcome outcome;
  for (std::size_t k = 0; k < parts; ++k) {
    std::vector<Example> rest;
    std::ranges::copy_if(examples, std::back_inserter(rest),
                         [&](const Example& e) { return part.at(e.group) != k; });
    ASSIGN_OR_RETURN(const auto predictor, contender.make(std::move(rest)));
    for (const Example& example : examples) {
      if (part.at(example.group) != k) continue;
      outcome.checker.add(*predictor, example);
      outcome.even.add(*predictor, example);
      outcome.sure.add(*predictor, example);
    }
  }
  return outcome;
}

// Deals workloads in alphabetical order to the parts in turn.
std::map<std::string, std::size_t> deal(const std::vector<Example>& examples, std::size_t parts) {
  std::map<std::string, std::size_t> part;
  for (const Example& example : examples) part.emplace(example.group, 0);
  std::size_t next = 0;
  for (auto& one : part) one.second = next++ % parts;
  return part;
}

std::string row(const std::string& title, const std::string& name, const Outcome& outcome,
                bool bounded) {
  const CheckResult r = outcome.checker.result();
  const auto held = [](double within, double width) {
    return fmt::format("{:.0f} (± {:.0f})", 100 * within, 100 * width);
  };
  return fmt::format("| {} | {} | {:.2f} | {:.2f} | {} | {} | {} |\n", title, name,
                     100 * r.time_mae, 100 * r.energy_mae,
                     bounded ? fmt::format("{:.0f}", 100 * r.coverage90) : "–",
                     bounded ? held(r.time_within, r.time_width) : "–",
                     bounded ? held(r.energy_within, r.energy_width) : "–");
}

std::string choice_row(const std::string& title, const std::string& name, const Outcome& outcome) {
  const ChoiceResult even = outcome.even.result();
  const ChoiceResult sure = outcome.sure.result();
  return fmt::format("| {} | {} | {:.1f} | {:.1f} | {:.0f} | {:.1f} | {:.0f} |\n", title, name,
                     100 * even.oracle_saved, 100 * even.saved, 100 * even.violations,
                     100 * sure.saved, 100 * sure.violations);
}

constexpr const char* kErrorHeader =
    "| tested on | predictor | time, % | energy, % | within 90 % bounds, % | times | energies |\n"
    "| --- | --- | --- | --- | --- | --- | --- |\n";
constexpr const char* kChoiceHeader =
    "\n| tested on | predictor | oracle saves, % | saves, % | over, % | if 90 % sure: saves, % | "
    "over, % |\n| --- | --- | --- | --- | --- | --- | --- |\n";

// One table of errors and one of choices for each set, with at most `most_parts` trainings.
Result<void> compare(const std::vector<std::pair<std::string, std::vector<Example>>>& sets,
                     std::size_t most_parts) {
  std::string choices;
  fmt::print("{}", kErrorHeader);
  for (const auto& [title, examples] : sets) {
    const std::size_t parts = std::min(most_parts, deal(examples, 1).size());
    const auto part = deal(examples, parts);
    for (const Contender& contender : contenders()) {
      ASSIGN_OR_RETURN(const Outcome outcome, leave_out(contender, examples, part, parts));
      fmt::print("{}", row(title, contender.name, outcome, contender.bounded));
      std::fflush(stdout);
      choices += choice_row(title, contender.name, outcome);
    }
  }
  fmt::print("{}{}", kChoiceHeader, choices);
  return {};
}

Result<void> workloads(const std::string& data) {
  std::vector<std::pair<std::string, std::vector<Example>>> sets;
  for (const CounterSet& set : counter_sets()) {
    ASSIGN_OR_RETURN(auto examples, load(data, set));
    sets.emplace_back(set.title, std::move(examples));
  }
  return compare(sets, 1000);
}

Result<void> pooled(const std::string& data) {
  std::vector<Example> all;
  for (const CounterSet& set : counter_sets()) {
    ASSIGN_OR_RETURN(const auto examples, load(data, set));
    all.insert(all.end(), examples.begin(), examples.end());
  }
  return compare({{"all four, one model", std::move(all)}}, 10);
}

// Sweeps of the power limit. They have no counters, so only the power of their jobs is known.
Result<std::vector<Example>> load_limits(const std::string& data) {
  ASSIGN_OR_RETURN(ExampleSet all, read_examples({data + "/zeus_power_trace/data.csv",
                                                  data + "/zeus_profile_windows/data.csv",
                                                  data + "/darsh_llm_powercap/data.csv"}));
  std::erase_if(all.examples, [](const Example& e) {
    return std::ranges::none_of(e.points,
                                [](const MeasuredRatio& p) { return p.at.limit.has_value(); });
  });
  return std::move(all.examples);
}

// Predictions under a power limit, with workloads left out, and with each card left out once.
Result<void> limits(const std::string& data) {
  ASSIGN_OR_RETURN(const std::vector<Example> examples, load_limits(data));
  RETURN_IF_ERROR(compare({{"power limits", examples}}, 10));
  std::map<std::string, std::vector<Example>> cards;
  for (const Example& example : examples) cards[example.key.gpu].push_back(example);
  fmt::print("\n{}", kErrorHeader);
  for (const auto& [card, tested] : cards) {
    std::vector<Example> rest;
    std::ranges::copy_if(examples, std::back_inserter(rest),
                         [&, name = card](const Example& e) { return e.key.gpu != name; });
    for (const Contender& contender : contenders(TrainingOptions{})) {
      if (contender.name == "roofline") continue;  // it needs counters
      ASSIGN_OR_RETURN(const auto predictor, contender.make(rest));
      Outcome outcome;
      for (const Example& example : tested) outcome.checker.add(*predictor, example);
      fmt::print("{}", row("the others → " + card, contender.name, outcome, contender.bounded));
    }
  }
  return {};
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The time to train on every shared sweep, and to predict a grid of 110 SM and 5 memory clocks.
Result<void> speed(const std::string& data) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(data)) {
    paths.push_back(entry.path().string() + "/data.csv");
  }
  std::ranges::sort(paths);
  ExampleSet set;
  std::size_t left_out = 0;
  for (const std::string& path : paths) left_out += add_examples(path, set) ? 0 : 1;
  const std::clock_t before = std::clock();
  ASSIGN_OR_RETURN(Model model, train(set.examples, {}));
  fmt::print(
      "- training on {} jobs of {} sets ({} sets have no default or no time): {:.1f} s of "
      "processor time, all threads together\n",
      set.examples.size(), set.sources.size(), left_out,
      static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
  const ModelPredictor predictor(std::move(model));
  std::vector<RelativeSetting> grid;
  for (int m = 0; m < 5; ++m) {
    for (int s = 0; s < 110; ++s) grid.push_back({1 - 0.005 * s, 1 - 0.1 * m, {}});
  }
  std::vector<double> times;
  for (int i = 0; i < 200; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto out = predictor.predict(set.examples.front().features, "V100", grid);
    times.push_back(out.empty() ? 0 : seconds_since(start));
  }
  std::ranges::sort(times);
  fmt::print("- predicting 110 × 5 settings: median {:.2f} ms, least {:.2f} ms of 200\n",
             1e3 * times[100], 1e3 * times[0]);
  return {};
}

}  // namespace
}  // namespace hypermile

int main(int argc, char** argv) {
  const std::string_view part = argc > 2 ? argv[2] : "";
  hypermile::Result<void> done =
      hypermile::Error{hypermile::ErrorCode::kUsage, "give DATA_FOLDER and a part"};
  if (part == "workloads" && argc == 3) done = hypermile::workloads(argv[1]);
  if (part == "pooled" && argc == 3) done = hypermile::pooled(argv[1]);
  if (part == "cards" && argc == 3) done = hypermile::cards(argv[1]);
  if (part == "scales" && argc == 3) done = hypermile::scales(argv[1]);
  if (part == "limits" && argc == 3) done = hypermile::limits(argv[1]);
  if (part == "speed" && argc == 3) done = hypermile::speed(argv[1]);
  if (done) return 0;
  fmt::print(stderr, "predict_evidence: {}\n", done.error().line());
  return 1;
}
