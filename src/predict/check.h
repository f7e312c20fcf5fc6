// SPDX-License-Identifier: Apache-2.0
//
// Compares predictions with measurements: how large the errors are on jobs with known curves, how
// often the bounds hold, and what a choice by prediction alone would save. Called by `learn`,
// `predict --check` and predict_evidence; nothing here fails.
#pragma once

#include <span>

#include "policy/objective.h"
#include "predict/examples.h"
#include "predict/predictor.h"

namespace hypermile {

struct CheckResult {
  std::size_t rows = 0;       // rows at 0.6 of the default's SM clock or more
  std::size_t workloads = 0;  // jobs with such rows
  double time_mae = 0;        // mean absolute error of the ratio to the default, over rows
  double energy_mae = 0;
  double coverage90 = 0;   // share of times and energies within their bounds
  double time_within = 0;  // share of times within their bounds
  double energy_within = 0;
  double time_width = 0;  // mean half width of the bounds
  double energy_width = 0;
};

// Sums over jobs. Each job may be checked with a predictor of its own.
class Checker {
 public:
  void add(const Predictor& predictor, const Example& example);
  CheckResult result() const;

 private:
  CheckResult sums_;
};

// The index of the setting with the least predicted score among those that keep the bound with
// probability `confidence` or more. Returns `estimates.size()` for the default where no setting is
// predicted to be better. Only objectives with host power use `default_power`.
std::size_t choose(std::span<const RatioEstimate> estimates, const Objective& objective,
                   double confidence, Watts default_power = Watts(0));

// What a choice without any probe saves in truth, and what the best choice would save.
struct ChoiceResult {
  std::size_t jobs = 0;
  double oracle_saved = 0;  // mean over jobs, as a fraction
  double saved = 0;         // mean over jobs, as a fraction
  double violations = 0;    // share of jobs whose true slowdown is beyond the bound
};

class ChoiceChecker {
 public:
  ChoiceChecker(const Objective& objective, double confidence)
      : objective_(objective), confidence_(confidence) {}
  void add(const Predictor& predictor, const Example& example);
  ChoiceResult result() const;

 private:
  Objective objective_;
  double confidence_;
  ChoiceResult sums_;
};

}  // namespace hypermile
