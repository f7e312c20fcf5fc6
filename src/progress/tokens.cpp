// SPDX-License-Identifier: Apache-2.0
#include "progress/tokens.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr std::uint32_t kLeastOccurrences = 5;
constexpr double kEndsWithinGaps = 1.5;
constexpr std::size_t kPairSlots = 16384;
constexpr int kProbes = 16;
constexpr std::uint16_t kNoPair = 0xFFFF;

std::size_t slot_of(std::uint32_t key) {
  return (key * 0x9E3779B1U) >> 18;
}

}  // namespace

TokenTable::TokenTable()
    : kernel_starts_(KernelNumbers::kMost + 1),
      kernel_positions_(LaunchRing::kSize),
      pair_starts_(kMostPairs + 1),
      pair_positions_(LaunchRing::kSize),
      pair_at_(LaunchRing::kSize),
      pair_slots_(kPairSlots) {
  tokens_.reserve(KernelNumbers::kMost + kMostPairs);
  kernels_.reserve(KernelNumbers::kMost);
  pair_keys_.reserve(kMostPairs);
}

void TokenTable::group(const LaunchRing& ring, std::uint64_t begin, std::uint64_t end) {
  begin_ = begin;
  length_ = static_cast<std::uint32_t>(std::min(end - begin, LaunchRing::kSize));
  tokens_.clear();
  group_kernels(ring);
  group_pairs(ring);
}

std::span<const std::uint32_t> TokenTable::positions(const Token& token) const {
  const auto& all = token.name.pair ? pair_positions_ : kernel_positions_;
  return std::span(all).subspan(token.first, token.count);
}

std::span<const std::uint32_t> TokenTable::kernel_positions(KernelNumber kernel) const {
  const std::uint32_t first = kernel_starts_[kernel];
  return std::span(kernel_positions_).subspan(first, kernel_starts_[kernel + 1U] - first);
}

// A counting sort. Afterwards kernel_starts_[k] is where k's positions begin.
void TokenTable::group_kernels(const LaunchRing& ring) {
  std::ranges::fill(kernel_starts_, 0U);
  for (std::uint32_t i = 0; i < length_; ++i) ++kernel_starts_[ring.kernel(begin_ + i) + 1U];
  kernels_.clear();
  for (std::size_t k = 0; k < KernelNumbers::kMost; ++k) {
    if (kernel_starts_[k + 1] > 0) kernels_.push_back(static_cast<KernelNumber>(k));
    kernel_starts_[k + 1] += kernel_starts_[k];
  }
  for (std::uint32_t i = 0; i < length_; ++i) {
    kernel_positions_[kernel_starts_[ring.kernel(begin_ + i)]++] = i;
  }
  // Each start has advanced to its end, which is the start of the next.
  for (std::size_t k = KernelNumbers::kMost; k > 0; --k) kernel_starts_[k] = kernel_starts_[k - 1];
  kernel_starts_[0] = 0;
  for (const KernelNumber kernel : kernels_) {
    keep_if_even({kernel, 0, false}, kernel_positions(kernel), kernel_starts_[kernel]);
  }
}

std::uint16_t TokenTable::pair_number(std::uint32_t key) {
  std::size_t at = slot_of(key);
  for (int probes = 0; probes < kProbes; ++probes, at = (at + 1) % kPairSlots) {
    PairSlot& slot = pair_slots_[at];
    if (slot.pair == 0) {
      if (pair_keys_.size() == kMostPairs) return kNoPair;
      pair_keys_.push_back(key);
      slot = {key, static_cast<std::uint16_t>(pair_keys_.size())};
    }
    if (slot.key == key) return static_cast<std::uint16_t>(slot.pair - 1);
  }
  return kNoPair;
}

// Clears only what was used, because short stretches are analysed often.
void TokenTable::clear_pairs() {
  if (pair_keys_.size() > kPairSlots / 32) {
    std::ranges::fill(pair_slots_, PairSlot{});
  } else {
    for (const std::uint32_t key : pair_keys_) {
      for (int probe = 0; probe < kProbes; ++probe) {
        pair_slots_[(slot_of(key) + static_cast<std::size_t>(probe)) % kPairSlots] = {};
      }
    }
  }
  std::fill_n(pair_starts_.begin(), pair_keys_.size() + 1, 0U);
  pair_keys_.clear();
}

void TokenTable::group_pairs(const LaunchRing& ring) {
  clear_pairs();
  if (length_ > 0) pair_at_[0] = kNoPair;
  for (std::uint32_t i = 1; i < length_; ++i) {
    const auto key = static_cast<std::uint32_t>(ring.kernel(begin_ + i - 1) * KernelNumbers::kMost +
                                                ring.kernel(begin_ + i));
    pair_at_[i] = pair_number(key);
    if (pair_at_[i] != kNoPair) ++pair_starts_[pair_at_[i] + 1U];
  }
  for (std::size_t p = 0; p < pair_keys_.size(); ++p) pair_starts_[p + 1] += pair_starts_[p];
  for (std::uint32_t i = 1; i < length_; ++i) {
    if (pair_at_[i] != kNoPair) pair_positions_[pair_starts_[pair_at_[i]]++] = i;
  }
  std::uint32_t first = 0;
  for (std::size_t p = 0; p < pair_keys_.size(); ++p) {
    const std::uint32_t end = pair_starts_[p];
    const TokenName name{static_cast<KernelNumber>(pair_keys_[p] % KernelNumbers::kMost),
                         static_cast<KernelNumber>(pair_keys_[p] / KernelNumbers::kMost), true};
    keep_if_even(name, std::span(pair_positions_).subspan(first, end - first), first);
    first = end;
  }
}

void TokenTable::keep_if_even(TokenName name, std::span<const std::uint32_t> at,
                              std::uint32_t first) {
  if (at.size() < kLeastOccurrences) return;
  // Many different kernels share that number, so its return means nothing.
  if (name.kernel == KernelNumbers::kOther) return;
  if (name.pair && name.previous == KernelNumbers::kOther) return;
  std::uint32_t longest = 0;
  double squares = 0;
  for (std::size_t i = 1; i < at.size(); ++i) {
    const std::uint32_t gap = at[i] - at[i - 1];
    longest = std::max(longest, gap);
    squares += static_cast<double>(gap) * gap;
  }
  const double reach = kEndsWithinGaps * longest;
  if (at.front() > reach || length_ - 1 - at.back() > reach) return;
  const double gaps = static_cast<double>(at.size() - 1);
  const double mean = (at.back() - at.front()) / gaps;
  const double variance = std::max(0.0, squares / gaps - mean * mean);
  tokens_.push_back({name, first, static_cast<std::uint32_t>(at.size()), static_cast<float>(mean),
                     static_cast<float>(std::sqrt(variance) / mean)});
}

std::size_t TokenTable::memory_bytes() const {
  return tokens_.capacity() * sizeof(Token) + kernels_.capacity() * sizeof(KernelNumber) +
         (kernel_starts_.capacity() + kernel_positions_.capacity() + pair_keys_.capacity() +
          pair_starts_.capacity() + pair_positions_.capacity()) *
             sizeof(std::uint32_t) +
         pair_at_.capacity() * sizeof(std::uint16_t) + pair_slots_.capacity() * sizeof(PairSlot);
}

}  // namespace hypermile
