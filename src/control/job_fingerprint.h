// SPDX-License-Identifier: Apache-2.0
//
// By what a job is known again in another run: the kernels that one iteration launches, and how
// often each. Names are kept as hashes, so that a cache tells nothing of what was trained. The mix
// hardly depends on the data, on which run it is, or on the clocks; it does depend on the network,
// the framework's version and the GPU.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hypermile {

struct KernelOfJob {
  std::uint32_t name = 0;  // hash
  double count = 0;        // launches an iteration
  bool operator==(const KernelOfJob&) const = default;
};

struct JobFingerprint {
  std::vector<KernelOfJob> kernels;  // by name, each once
  bool operator==(const JobFingerprint&) const = default;
};

// The kernels that are launched most, as many as a fingerprint keeps.
inline constexpr std::size_t kMostKernels = 256;

struct NamedCount {
  std::string name;
  double count = 0;
};
JobFingerprint fingerprint_of(std::span<const NamedCount> kernels);

// Launches that both have, over the launches of the larger: 1 for the same mix, 0 for nothing in
// common or where one is empty.
double likeness(const JobFingerprint& a, const JobFingerprint& b);

// From here on two mixes are one job's.
inline constexpr double kSameJob = 0.95;

}  // namespace hypermile
