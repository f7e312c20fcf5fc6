// SPDX-License-Identifier: Apache-2.0
#include "predict/forest.h"

#include <cmath>

namespace hypermile {

double Forest::value(const Inputs& inputs) const {
  double sum = base;
  for (const Tree& tree : trees) {
    const TreeNode* node = tree.data();
    while (node->input >= 0) {
      const float x = inputs[static_cast<std::size_t>(node->input)];
      const bool left = std::isnan(x) ? node->missing_left : x < node->split;
      node = &tree[static_cast<std::size_t>(node->left + (left ? 0 : 1))];
    }
    sum += static_cast<double>(node->split);
  }
  return sum;
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
