// SPDX-License-Identifier: Apache-2.0
//
// The training process's end of a ring (ring.h). All calls after open() are lock-free and never
// allocate, wait, print or fail; any thread may make them. Only plain C is called: this is part of
// libraries that live inside other people's programs.
#pragma once

#include <cstdint>

#include "inject/ring.h"

namespace hypermile {

// CLOCK_MONOTONIC.
std::uint64_t monotonic_ns();

class RingWriter {
 public:
  constexpr RingWriter() = default;

  // Makes a ring in the folder that kRingDirVariable names; false if there is none or no room.
  bool open(RingSource source);
  bool is_open() const { return header_ != nullptr; }
  // In a forked child: the ring is the parent's, and this object has none.
  void abandon();

  // Returns the record's number.
  std::uint64_t put(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const std::uint64_t number = __atomic_fetch_add(&header_->head, 1, __ATOMIC_RELAXED);
    RingSlot& slot = slots_[number & (kSlotCount - 1)];
    // Release stores, so that whoever sees a new word sees the broken seal before it.
    __atomic_store_n(&slot.seal, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slot.a, a, __ATOMIC_RELEASE);
    __atomic_store_n(&slot.b, b, __ATOMIC_RELEASE);
    __atomic_store_n(&slot.c, c, __ATOMIC_RELEASE);
    __atomic_store_n(&slot.seal, seal_of(number, a, b, c), __ATOMIC_RELEASE);
    return number;
  }

  // The id of a name, the same for the same text; kOtherNames when there is no more room.
  std::uint32_t intern(const char* text);

  // Also leaves a record, so that a reader learns when.
  void set_status(RingStatus status, const char* reason);
  // At the process's end. The header keeps saying why nothing was watched, if nothing was.
  void end();

  RingHeader& header() { return *header_; }
  const RingControl& control() const { return *control_; }

 private:
  std::uint32_t add_name(const char* text);
  void fill_header(RingSource source);

  static constexpr std::uint32_t kTableSize = 2 * kNameCount;

  RingHeader* header_ = nullptr;
  RingControl* control_ = nullptr;
  RingName* names_ = nullptr;
  RingSlot* slots_ = nullptr;
  std::uint32_t name_count_ = 0;
  std::uint64_t known_[kTableSize] = {};  // upper 48 bits of the hash, id + 1 below; 0 is free
};

}  // namespace hypermile
