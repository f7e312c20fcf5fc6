// SPDX-License-Identifier: Apache-2.0
#include "predict/forest.h"

#include <cmath>

namespace hypermile {

double Forest::value(const Inputs& inputs) const {
  double sum = 0;
  add_values({&inputs, 1}, {&sum, 1});
  return sum;
}

void Forest::add_values(std::span<const Inputs> rows, std::span<double> sums) const {
  for (std::size_t row = 0; row < rows.size(); ++row) sums[row] += base;
  for (const Tree& tree : trees) {
    const TreeNode* const nodes = tree.data();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const TreeNode* node = nodes;
      while (node->input >= 0) {
        const float x = rows[row][static_cast<std::size_t>(node->input)];
        // A missing input is NaN, and NaN < split is false.
        const bool left = x < node->split || (node->missing_left && std::isnan(x));
        node = nodes + node->left + (left ? 0 : 1);
      }
      sums[row] += static_cast<double>(node->split);
    }
  }
}

Result<void> check(const Forest& forest) {
  const Error broken{ErrorCode::kParse, "its trees are damaged"};
  if (!std::isfinite(forest.base)) return broken;
  for (const Tree& tree : forest.trees) {
    if (tree.empty()) return broken;
    const auto size = static_cast<std::int32_t>(tree.size());
    for (std::int32_t i = 0; i < size; ++i) {
      const TreeNode& node = tree[static_cast<std::size_t>(i)];
      if (!std::isfinite(node.split)) return broken;
      if (node.input < 0) continue;
      const bool ahead = node.left > i && node.left < size - 1;
      if (!ahead || node.input >= static_cast<std::int32_t>(kInputCount)) return broken;
    }
  }
  return {};
}

}  // namespace hypermile
