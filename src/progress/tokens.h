// SPDX-License-Identifier: Apache-2.0
//
// Where each kernel, and each pair of consecutive kernels, stands in a stretch of the launch
// stream, and how evenly. A pair can be rare even if its kernels are frequent, for instance when a
// kernel is launched twice in a row. Used by the analysis; scratch memory is kept between calls.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "progress/launch_ring.h"

namespace hypermile {

struct TokenName {
  KernelNumber kernel = 0;
  KernelNumber previous = 0;  // the first kernel of a pair
  bool pair = false;
  bool operator==(const TokenName&) const = default;
};

struct Token {
  TokenName name;
  std::uint32_t first = 0;  // index of its first position
  std::uint32_t count = 0;
  float gap = 0;  // mean distance in launches
  float cv = 0;   // standard deviation of the distance over its mean
};

class TokenTable {
 public:
  TokenTable();

  // Groups the launches [begin, end) of the ring, at most LaunchRing::kSize of them.
  void group(const LaunchRing& ring, std::uint64_t begin, std::uint64_t end);

  // The tokens that occur at least five times, from one end of the stretch to the other. This
  // excludes kernels of a phase that ended inside the stretch.
  std::span<Token> tokens() { return tokens_; }
  // Ascending, counted from the beginning of the stretch.
  std::span<const std::uint32_t> positions(const Token& token) const;
  // The kernels that occur, and their positions.
  std::span<const KernelNumber> kernels() const { return kernels_; }
  std::span<const std::uint32_t> kernel_positions(KernelNumber kernel) const;
  std::uint32_t length() const { return length_; }
  std::uint64_t begin() const { return begin_; }

  std::size_t memory_bytes() const;

 private:
  static constexpr std::size_t kMostPairs = 8192;  // distinct pairs; more than that is noise

  void group_kernels(const LaunchRing& ring);
  void clear_pairs();
  void group_pairs(const LaunchRing& ring);
  void keep_if_even(TokenName name, std::span<const std::uint32_t> at, std::uint32_t first);

  struct PairSlot {
    std::uint32_t key = 0;
    std::uint16_t pair = 0;  // the pair's number + 1; 0 marks an empty slot
  };
  std::uint16_t pair_number(std::uint32_t key);

  std::uint64_t begin_ = 0;
  std::uint32_t length_ = 0;
  std::vector<Token> tokens_;
  std::vector<KernelNumber> kernels_;
  std::vector<std::uint32_t> kernel_starts_;     // by kernel number: where its positions begin
  std::vector<std::uint32_t> kernel_positions_;  // grouped by kernel
  std::vector<std::uint32_t> pair_keys_;
  std::vector<std::uint32_t> pair_starts_;
  std::vector<std::uint32_t> pair_positions_;  // grouped by pair
  std::vector<std::uint16_t> pair_at_;  // by position: the number of the pair that ends there
  std::vector<PairSlot> pair_slots_;
};

}  // namespace hypermile
