// SPDX-License-Identifier: Apache-2.0
//
// Guesses from a kernel's name whether it updates weights. An outer level with such a kernel is an
// optimizer step over micro-batches; any other level may be logging.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace hypermile {

inline bool is_optimizer_kernel(std::string_view name) {
  constexpr std::array<std::string_view, 6> kHints = {"adam",         "sgd",     "lamb",
                                                      "multi_tensor", "foreach", "optim"};
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::any_of(
      kHints, [&](std::string_view hint) { return lower.find(hint) != std::string::npos; });
}

}  // namespace hypermile
