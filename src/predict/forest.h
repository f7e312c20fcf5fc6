// SPDX-License-Identifier: Apache-2.0
//
// Gradient-boosted trees as data: what XGBoost has trained, reduced to what answering needs.
// Answering is a few thousand comparisons without a library call, and a model file can be checked
// before it is trusted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "predict/inputs.h"

namespace hypermile {

struct TreeNode {
  std::int32_t input = -1;    // column of Inputs; -1: a leaf
  float split = 0;            // left where the input is less; of a leaf its value
  std::int32_t left = 0;      // the right child stands behind it
  bool missing_left = false;  // where a missing input goes
};
using Tree = std::vector<TreeNode>;

struct Forest {
  double base = 0;
  std::vector<Tree> trees;

  double value(const Inputs& inputs) const;
  // Adds the value of each row to `sums`. Row by row within a tree: a tree stays in the cache.
  void add_values(std::span<const Inputs> rows, std::span<double> sums) const;
};

// Every child exists and lies behind its parent (so that walking ends), inputs are in range,
// numbers finite. kParse otherwise.
Result<void> check(const Forest& forest);

}  // namespace hypermile
