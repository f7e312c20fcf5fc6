// SPDX-License-Identifier: Apache-2.0
//
// The predictors and baselines that predict_evidence compares, and the public sweeps that it
// compares them on. Reading a sweep or training a predictor may fail.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "predict/train.h"

namespace hypermile {

using Maker = std::function<Result<std::unique_ptr<Predictor>>(std::vector<Example>)>;

struct Contender {
  std::string name;
  Maker make;
  bool bounded = true;
};

// Bounds for unknown cards need further trainings, and only few tables show them.
TrainingOptions without_new_cards();
// Three baselines and a model of each kind.
std::vector<Contender> contenders(const TrainingOptions& options = without_new_cards());

// One card of a sweep with counters.
struct CounterSet {
  std::string title;
  std::string folder;
  std::string gpu;
};
const std::vector<CounterSet>& counter_sets();

Result<std::vector<Example>> load(const std::string& data, const CounterSet& set);
// All sweeps from which the model that comes with the program is made.
Result<std::vector<Example>> load_public(const std::string& data);

}  // namespace hypermile
