// SPDX-License-Identifier: Apache-2.0
#include "control/job_fingerprint.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

// FNV-1a: the same on every computer and in every version.
std::uint32_t hash(const std::string& text) {
  std::uint32_t value = 0x811C9DC5U;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x01000193U;
  return value;
}

}  // namespace

JobFingerprint fingerprint_of(std::span<const NamedCount> kernels) {
  JobFingerprint print;
  for (const NamedCount& kernel : kernels) {
    if (!(kernel.count > 0) || !std::isfinite(kernel.count)) continue;
    print.kernels.push_back({hash(kernel.name), kernel.count});
  }
  std::ranges::sort(print.kernels, {}, &KernelOfJob::name);
  // Two names with one hash are one kernel.
  std::vector<KernelOfJob> merged;
  for (const KernelOfJob& kernel : print.kernels) {
    if (!merged.empty() && merged.back().name == kernel.name) {
      merged.back().count += kernel.count;
    } else {
      merged.push_back(kernel);
    }
  }
  if (merged.size() > kMostKernels) {
    std::ranges::stable_sort(merged, std::ranges::greater{}, &KernelOfJob::count);
    merged.resize(kMostKernels);
    std::ranges::sort(merged, {}, &KernelOfJob::name);
  }
  print.kernels = std::move(merged);
  return print;
}

double likeness(const JobFingerprint& a, const JobFingerprint& b) {
  double common = 0;
  double sum_a = 0;
  double sum_b = 0;
  for (const KernelOfJob& kernel : b.kernels) sum_b += kernel.count;
  auto at = b.kernels.begin();
  for (const KernelOfJob& kernel : a.kernels) {
    sum_a += kernel.count;
    while (at != b.kernels.end() && at->name < kernel.name) ++at;
    if (at != b.kernels.end() && at->name == kernel.name) {
      common += std::min(kernel.count, at->count);
    }
  }
  const double larger = std::max(sum_a, sum_b);
  return larger > 0 ? common / larger : 0;
}

}  // namespace hypermile
