// SPDX-License-Identifier: Apache-2.0
//
// A bounded queue from one thread to another, without locks and without waiting on either side:
// post() into a full queue returns false. The writer may be several threads that take turns, as
// Python threads do under the interpreter's lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <type_traits>

namespace hypermile {

template <class T, std::size_t kCapacity>
class SpscQueue {
  static_assert((kCapacity & (kCapacity - 1)) == 0, "a power of two");
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // Returns false, and posts nothing, where the queue is full.
  bool post(const T& item) {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) == kCapacity) return false;
    items_[tail % kCapacity] = item;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  std::optional<T> take() {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return std::nullopt;
    const T item = items_[head % kCapacity];
    head_.store(head + 1, std::memory_order_release);
    return item;
  }

 private:
  static constexpr std::size_t kCacheLine = 64;

  alignas(kCacheLine) std::atomic<std::size_t> head_ = 0;  // written by the reader
  alignas(kCacheLine) std::atomic<std::size_t> tail_ = 0;  // written by the writer
  alignas(kCacheLine) std::array<T, kCapacity> items_ = {};
};

}  // namespace hypermile
