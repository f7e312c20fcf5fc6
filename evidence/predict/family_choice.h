// SPDX-License-Identifier: Apache-2.0
//
// Shows that no judged family of cards has a say in what answers about its energy: trees or linear
// forms (Model::elsewhere). For each family, the two are compared on cards of the other families.
// Fails where a training fails.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "predict/model.h"

namespace hypermile {

// One comparison: the families of the training and the family it was tested on.
struct FamilyComparison {
  bool one_family = true;
  std::string trained;  // empty for several families
  std::string tested;
  std::map<ModelKind, double> energy;  // the mean absolute error less the mean curve's
};

// Every card of every sweep with 8 workloads or more trains, and is tested on all cards of other
// families.
Result<std::vector<FamilyComparison>> compare_pairs(std::span<const Example> known);

// Prints, for each family, the means over the comparisons without it.
void print_family_choice(std::span<const FamilyComparison> comparisons);

}  // namespace hypermile
