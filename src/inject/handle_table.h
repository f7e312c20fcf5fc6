// SPDX-License-Identifier: Apache-2.0
//
// Maps CUDA's handles (functions, graphs, streams) to small numbers: a fixed, lock-free table that
// is read at every launch. An entry is one word, so a reader sees all of it or none. Any thread.
#pragma once

#include <cstdint>

namespace hypermile {

template <unsigned kSize>
class HandleTable {
  static_assert((kSize & (kSize - 1)) == 0);

 public:
  static constexpr std::uint32_t kMissing = 0xffff'ffff;

  std::uint32_t find(const void* handle) const {
    const std::uint64_t key = key_of(handle);
    for (unsigned probe = 0; probe < kMostProbes; ++probe) {
      const std::uint64_t entry = __atomic_load_n(&entries_[place(key, probe)], __ATOMIC_RELAXED);
      if ((entry >> 16) == key && entry != 0) return static_cast<std::uint32_t>(entry & 0xffff) - 1;
      if (entry == 0) return kMissing;
    }
    return kMissing;
  }

  // A handle is not remembered if there is no room for it. `number` must be below 65535.
  void insert(const void* handle, std::uint32_t number) {
    const std::uint64_t key = key_of(handle);
    if ((key >> 48) != 0) return;  // no address that user space has today
    const std::uint64_t wanted = (key << 16) | (number + 1);
    for (unsigned probe = 0; probe < kMostProbes; ++probe) {
      std::uint64_t free = 0;
      std::uint64_t& entry = entries_[place(key, probe)];
      if (__atomic_compare_exchange_n(&entry, &free, wanted, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED) ||
          (free >> 16) == key)
        return;
    }
  }

  // Called when a module is unloaded, because its handles may then be reused for something else.
  void clear() {
    for (std::uint64_t& entry : entries_) __atomic_store_n(&entry, 0, __ATOMIC_RELAXED);
  }

 private:
  static constexpr unsigned kMostProbes = 16;

  static std::uint64_t key_of(const void* handle) {
    return reinterpret_cast<std::uintptr_t>(handle);
  }
  static unsigned place(std::uint64_t key, unsigned probe) {
    const std::uint64_t mixed = (key >> 3) * 0x9e37'79b9'7f4a'7c15U;
    return (static_cast<unsigned>(mixed >> 40) + probe) & (kSize - 1);
  }

  std::uint64_t entries_[kSize] = {};
};

}  // namespace hypermile
