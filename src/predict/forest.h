// SPDX-License-Identifier: Apache-2.0
//
// Gradient-boosted trees as plain data: what XGBoost has trained, reduced to what a prediction
// needs. A prediction takes a few thousand comparisons and no library call, and a model file can be
// checked before it is used. All functions are pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "predict/inputs.h"

namespace hypermile {

struct TreeNode {
  std::int32_t input = -1;    // column of Inputs; -1 for a leaf
  float split = 0;            // go left where the input is less than this; a leaf's value
  std::int32_t left = 0;      // index of the left child; the right child follows it
  bool missing_left = false;  // whether a missing input goes left
};
using Tree = std::vector<TreeNode>;

struct Forest {
  double base = 0;
  std::vector<Tree> trees;

  double value(const Inputs& inputs) const;
  // Adds the value of each row to `sums`. Trees are the outer loop, so that a tree stays in the
  // cache.
  void add_values(std::span<const Inputs> rows, std::span<double> sums) const;
};

// Returns kParse unless every child exists and has a higher index than its parent (so that every
// walk ends), inputs are in range and numbers are finite.
Result<void> check(const Forest& forest);

}  // namespace hypermile
