// SPDX-License-Identifier: Apache-2.0
#include "progress/other_stage.h"

#include <algorithm>
#include <vector>

#include "progress/forward_pass.h"

namespace hypermile {
namespace {

// Launches per iteration. Iterations of so few are graphs, which hide their kernels.
constexpr double kHidesKernels = 8;
constexpr float kMostIterations = 0.5F;  // launches per iteration

std::vector<KernelShare> shares(const std::vector<double>& counts) {
  std::vector<KernelShare> shares;
  for (std::uint32_t kernel = 0; kernel < counts.size(); ++kernel) {
    if (counts[kernel] > 0) shares.push_back({kernel, counts[kernel]});
  }
  return shares;
}

}  // namespace

std::optional<std::uint64_t> other_stage(const LaunchRing& ring, std::uint64_t from,
                                         std::uint64_t to, const Reference& pattern) {
  const double length = pattern.length();
  if (length <= kHidesKernels || from < ring.begin()) return std::nullopt;
  std::vector<double> usual(KernelNumbers::kMost);
  for (const KernelCount& each : pattern.counts) {
    if (each.count >= kMostIterations) usual[each.kernel] = each.count;
  }
  std::vector<double> round = usual;
  std::uint64_t begin = from;  // of the stage that goes on
  double known = 0;            // launches of the pattern's kernels in a row
  std::uint64_t longest = 0;
  for (std::uint64_t i = from; i < to; ++i) {
    const KernelNumber kernel = ring.kernel(i);
    round[kernel] += 1;
    if (usual[kernel] > 0) {
      ++known;
      continue;
    }
    if (known >= length) begin = i;  // a whole iteration of the pattern lies in between
    known = 0;
    longest = std::max(longest, i - begin + 1);
  }
  // Of the kernels of both, recorded trainings lack one in eight at most, and the play of recorded
  // learners more than half.
  if (!is_forward_pass(shares(usual), shares(round))) return std::nullopt;
  return longest;
}

}  // namespace hypermile
