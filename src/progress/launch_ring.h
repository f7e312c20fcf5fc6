// SPDX-License-Identifier: Apache-2.0
//
// The last 131072 launches, by their number since the start. The analysis looks back on them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "progress/kernel_numbers.h"

namespace hypermile {

class LaunchRing {
 public:
  static constexpr std::uint64_t kSize = std::uint64_t{1} << 17;

  LaunchRing() : times_(kSize), kernels_(kSize) {}

  // The numbers of the oldest launch held and of the next launch.
  std::uint64_t begin() const { return end_ > kSize ? end_ - kSize : 0; }
  std::uint64_t end() const { return end_; }

  void push(Instant time, KernelNumber kernel) {
    times_[end_ % kSize] = time;
    kernels_[end_ % kSize] = kernel;
    ++end_;
  }

  Instant time(std::uint64_t launch) const { return times_[launch % kSize]; }
  KernelNumber kernel(std::uint64_t launch) const { return kernels_[launch % kSize]; }
  // The kernel of the launch before; kOther at the very start.
  KernelNumber previous(std::uint64_t launch) const {
    return launch > begin() ? kernel(launch - 1) : KernelNumbers::kOther;
  }

  std::size_t memory_bytes() const { return kSize * (sizeof(Instant) + sizeof(KernelNumber)); }

 private:
  std::vector<Instant> times_;
  std::vector<KernelNumber> kernels_;
  std::uint64_t end_ = 0;
};

}  // namespace hypermile
