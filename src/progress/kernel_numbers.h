// SPDX-License-Identifier: Apache-2.0
//
// Small dense numbers for the kernel ids of one process, so that counts per kernel fit into arrays
// of fixed size. A process has hundreds of kernels; ids beyond the table (hostile or broken input)
// share the number kOther.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "inject/launch.h"

namespace hypermile {

using KernelNumber = std::uint16_t;

class KernelNumbers {
 public:
  static constexpr std::size_t kMost = 4096;  // including kOther
  static constexpr KernelNumber kOther = 0;

  KernelNumbers() : slots_(kSlots), kernels_(1, 0U) { kernels_.reserve(kMost); }

  // The kernel's number; a new kernel gets a new number while any are left.
  KernelNumber number(std::uint32_t kernel) {
    if (kernel == kOtherKernel) return kOther;
    std::size_t at = (kernel * 0x9E3779B1U) >> (32 - kSlotBits);
    for (int probes = 0; probes < kProbes; ++probes, at = (at + 1) % kSlots) {
      Slot& slot = slots_[at];
      if (slot.number == kOther) return fill(slot, kernel);
      if (slot.kernel == kernel) return slot.number;
    }
    return kOther;
  }

  // The id that has this number; 0 for kOther.
  std::uint32_t kernel(KernelNumber number) const { return kernels_[number]; }

  std::size_t memory_bytes() const {
    return slots_.capacity() * sizeof(Slot) + kernels_.capacity() * sizeof(std::uint32_t);
  }

 private:
  static constexpr int kSlotBits = 13;
  static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;
  static constexpr int kProbes = 32;  // bounds the cost of ids that were chosen to collide

  struct Slot {
    std::uint32_t kernel = 0;
    KernelNumber number = kOther;  // kOther marks an empty slot
  };

  KernelNumber fill(Slot& slot, std::uint32_t kernel) {
    if (kernels_.size() == kMost) return kOther;
    slot = {kernel, static_cast<KernelNumber>(kernels_.size())};
    kernels_.push_back(kernel);
    return slot.number;
  }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> kernels_;
};

}  // namespace hypermile
