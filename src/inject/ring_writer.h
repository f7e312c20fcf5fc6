// SPDX-License-Identifier: Apache-2.0
//
// The training process's side of a ring (ring.h). After open(), all calls are lock-free and never
// allocate, wait, print or fail; any thread may make them. Only plain C is used, because this code
// runs inside other people's programs.
#pragma once

#include <cstdint>

#include "inject/ring.h"

namespace hypermile {

// Nanoseconds on CLOCK_MONOTONIC.
std::uint64_t monotonic_ns();

class RingWriter {
 public:
  constexpr RingWriter() = default;

  // Makes a ring in the folder that kRingDirVariable names. False if there is no folder or no room.
  bool open(RingSource source);
  // The same, with a ring of that extent whatever is free.
  bool open(RingSource source, const RingExtent& extent);
  bool is_open() const { return header_ != nullptr; }
  // For a forked child: the ring belongs to the parent, so this object lets go of it.
  void abandon();

  // Writes a record and returns its number.
  std::uint64_t put(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const std::uint64_t number = __atomic_fetch_add(&header_->head, 1, __ATOMIC_RELAXED);
    RingSlot& slot = slots_[number & (extent_.slots - 1)];
    // Release stores: a reader that sees a new word also sees that the seal was cleared before it.
    __atomic_store_n(&slot.seal, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slot.a, a, __ATOMIC_RELEASE);
    __atomic_store_n(&slot.b, b, __ATOMIC_RELEASE);
    __atomic_store_n(&slot.c, c, __ATOMIC_RELEASE);
    __atomic_store_n(&slot.seal, seal_of(number, a, b, c), __ATOMIC_RELEASE);
    return number;
  }

  // The id of a name; the same text always has the same id. The last id if there is no more room.
  std::uint32_t intern(const char* text);

  // Also writes a record, so that the reader learns the time of the change.
  void set_status(RingStatus status, const char* reason);
  // Called when the process ends. The header keeps the reason if nothing was ever watched.
  void end();

  RingHeader& header() { return *header_; }
  const RingControl& control() const { return *control_; }

 private:
  std::uint32_t add_name(const char* text);
  void fill_header(RingSource source);

  static constexpr std::uint32_t kTableSize = 2 * kLargeRing.names;

  RingHeader* header_ = nullptr;
  RingControl* control_ = nullptr;
  RingName* names_ = nullptr;
  RingSlot* slots_ = nullptr;
  RingExtent extent_ = kLargeRing;
  std::uint32_t name_count_ = 0;
  // Upper 48 bits of the hash, then id + 1; 0 marks a free entry.
  std::uint64_t known_[kTableSize] = {};
};

}  // namespace hypermile
