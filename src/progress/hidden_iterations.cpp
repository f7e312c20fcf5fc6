// SPDX-License-Identifier: Apache-2.0
#include "progress/hidden_iterations.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace hypermile {
namespace {

constexpr double kEveryIteration = 0.9;  // launches per iteration
// A quarter of the kernels may be rarer, because a start-up tries other variants of them. A quarter
// must be foreign to evaluations: the backward pass has more.
constexpr double kRarest = 0.25;

}  // namespace

double hidden_iterations(std::vector<HiddenKernel> kernels) {
  std::erase_if(kernels,
                [](const HiddenKernel& each) { return each.per_iteration < kEveryIteration; });
  if (kernels.empty()) return 0;
  const auto ratio = [](const HiddenKernel& each) { return each.launched / each.per_iteration; };
  const auto at = kernels.begin() +
                  static_cast<std::ptrdiff_t>(kRarest * static_cast<double>(kernels.size() - 1));
  std::ranges::nth_element(kernels, at, {}, ratio);
  // What a kernel's count varies by must not round a whole iteration down.
  return std::floor(ratio(*at) + 0.25);
}

}  // namespace hypermile
