// SPDX-License-Identifier: Apache-2.0
#include "progress/forward_pass.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace hypermile {
namespace {

constexpr double kOfTraining = 0.8;      // of an evaluation's launches
constexpr double kForwardKernels = 0.6;  // of the training's kernels

}  // namespace

bool is_forward_pass(const std::vector<KernelShare>& part,
                     const std::vector<KernelShare>& training) {
  std::map<std::uint32_t, double> trained;
  double whole = 0;
  for (const KernelShare& share : training) {
    trained[share.kernel] = share.count;
    whole += share.count;
  }
  double all = 0;
  double shared = 0;
  double common = 0;
  for (const KernelShare& share : part) {
    all += share.count;
    const auto found = trained.find(share.kernel);
    if (found == trained.end()) continue;
    shared += std::min(share.count, found->second);
    common += 1;
  }
  return all > 0 && all < whole && shared >= kOfTraining * all &&
         common < kForwardKernels * static_cast<double>(trained.size());
}

}  // namespace hypermile
