// SPDX-License-Identifier: Apache-2.0
//
// Predicted against measured: how far off a predictor is on jobs with known curves, how often its
// bounds hold, and what choosing by it alone would bring.
#pragma once

#include <span>

#include "policy/objective.h"
#include "predict/examples.h"
#include "predict/predictor.h"

namespace hypermile {

struct CheckResult {
  std::size_t rows = 0;       // at 0.6 of the default's SM clock or more
  std::size_t workloads = 0;  // jobs that these rows are of
  double time_mae = 0;        // mean absolute error of the ratio to the default, over rows
  double energy_mae = 0;
  double coverage90 = 0;   // share of times and energies within their bounds
  double time_within = 0;  // of times alone
  double energy_within = 0;
  double time_width = 0;  // mean half width of the bounds
  double energy_width = 0;
};

// Adds up over jobs, so that a predictor may be another for each.
class Checker {
 public:
  void add(const Predictor& predictor, const Example& example);
  CheckResult result() const;

 private:
  CheckResult sums_;
};

// The Setting of least predicted score among those whose probability of keeping the bound is
// `confidence` or more; `settings.size()` for the default, where none is predicted to be better.
// `default_power` is needed for host power alone.
std::size_t choose(std::span<const RatioEstimate> estimates, const Objective& objective,
                   double confidence, Watts default_power = Watts(0));

// Choosing blindly, no probe: what the choice truly saves, over what the best choice would.
struct ChoiceResult {
  std::size_t jobs = 0;
  double oracle_saved = 0;  // means over jobs, as fractions
  double saved = 0;
  double violations = 0;  // share of jobs truly over the bound
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
