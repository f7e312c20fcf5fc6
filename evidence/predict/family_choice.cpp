// SPDX-License-Identifier: Apache-2.0
#include "evidence/predict/family_choice.h"

#include <fmt/format.h>

#include <set>

#include "evidence/predict/contenders.h"
#include "predict/baselines.h"
#include "predict/check.h"
#include "predict/model_predictor.h"

namespace hypermile {
namespace {

// As in card_pairs.cpp: with fewer workloads, a card is tested but trains nothing.
constexpr std::size_t kFewestWorkloads = 8;

double energy_error(const Predictor& predictor, std::span<const Example> jobs) {
  Checker checker;
  for (const Example& job : jobs) checker.add(predictor, job);
  return checker.result().energy_mae;
}

std::size_t workloads_of(std::span<const Example> jobs) {
  std::set<std::string> groups;
  for (const Example& job : jobs) groups.insert(job.group);
  return groups.size();
}

// Trees, linear forms and the mean of both, each of which answers for itself everywhere.
Result<std::map<ModelKind, ModelPredictor>> models_of(std::span<const Example> jobs) {
  std::map<ModelKind, ModelPredictor> models;
  for (const ModelKind kind : kModelKinds) {
    TrainingOptions options = without_new_cards();
    options.kind = kind;
    ASSIGN_OR_RETURN(Model model, train(jobs, options));
    model.elsewhere.clear();
    models.emplace(kind, std::move(model));
  }
  return models;
}

void print_row(const std::string& judged, bool one_family,
               std::span<const FamilyComparison> comparisons) {
  std::map<ModelKind, double> sums;
  int n = 0;
  for (const FamilyComparison& one : comparisons) {
    if (one.one_family != one_family || one.trained == judged || one.tested == judged) continue;
    for (const auto& [kind, energy] : one.energy) sums[kind] += energy;
    ++n;
  }
  if (n == 0) return;
  const auto mean = [&](ModelKind kind) { return 100 * sums[kind] / n; };
  fmt::print("| {} | {} | {} | {:+.2f} | {:+.2f} | {:+.2f} |\n", judged,
             one_family ? "one family" : "two or more", n, mean(ModelKind::kBoosted),
             mean(ModelKind::kAnalytic), mean(ModelKind::kJoined));
}

}  // namespace

Result<std::vector<FamilyComparison>> compare_pairs(std::span<const Example> known) {
  std::map<std::string, std::vector<Example>> cards;  // of each sweep
  for (const Example& job : known) {
    if (has_clocks(job)) cards[job.set + " " + job.key.gpu].push_back(job);
  }
  std::vector<FamilyComparison> out;
  for (const auto& [from, training] : cards) {
    if (workloads_of(training) < kFewestWorkloads) continue;
    const std::string family = card_family(training.front().key.gpu);
    const MeanCurvePredictor mean(mean_curve(training));
    ASSIGN_OR_RETURN(const auto models, models_of(training));
    for (const auto& [to, jobs] : cards) {
      const std::string tested = card_family(jobs.front().key.gpu);
      if (tested == family) continue;
      FamilyComparison& one = out.emplace_back(FamilyComparison{true, family, tested, {}});
      for (const auto& [kind, model] : models) {
        one.energy[kind] = energy_error(model, jobs) - energy_error(mean, jobs);
      }
    }
  }
  return out;
}

void print_family_choice(std::span<const FamilyComparison> comparisons) {
  std::set<std::string> families;
  for (const FamilyComparison& one : comparisons) families.insert(one.tested);
  fmt::print(
      "\n| judged family | training | tests without it | trees | linear forms | both |\n"
      "| --- | --- | --- | --- | --- | --- |\n");
  for (const bool one_family : {true, false}) {
    for (const std::string& judged : families) print_row(judged, one_family, comparisons);
  }
}

}  // namespace hypermile
