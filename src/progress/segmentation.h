// SPDX-License-Identifier: Apache-2.0
//
// A stretch of the launch stream cut into segments, and how alike they are by the kernels launched
// in them. The reference is the median segment: for each kernel the median of its count. The
// similarity of a segment is the share of its launches that the reference explains.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "progress/tokens.h"

namespace hypermile {

// How often a kernel is launched in one iteration.
struct KernelCount {
  KernelNumber kernel = 0;
  float count = 0;
};

// Matched launches over the launches of the longer of the two.
inline double similarity(double matched, double length, double reference_length) {
  const double longer = length > reference_length ? length : reference_length;
  return longer > 0 ? matched / longer : 0;
}

class Segmentation {
 public:
  static constexpr std::size_t kMost = 256;  // segments; of more, the last

  Segmentation() { reference_.reserve(KernelNumbers::kMost); }

  // Cuts at `cuts` (positions in the table's stretch, ascending, at least two).
  void cut(const TokenTable& table, std::span<const std::uint32_t> cuts);

  // Over all segments, weighted by their length: 0..1.
  double mean_similarity() const { return mean_similarity_; }
  // The most launches by which a segment and the reference differ.
  double worst_mismatch() const { return worst_mismatch_; }
  // Launches of the shortest segment but for a tenth of them.
  std::uint32_t shortest();
  std::uint32_t longest() const { return longest_; }
  std::size_t segments() const { return cuts_.size() - 1; }
  std::span<const KernelCount> reference() const { return reference_; }
  double reference_length() const { return reference_length_; }
  // In how many segments `positions` stands exactly once, as a share.
  double once_in(std::span<const std::uint32_t> positions) const;
  // Where in its segment it stands, as a share of the segment's length.
  struct Place {
    double mean = 0;
    double deviation = 0;
  };
  Place place(std::span<const std::uint32_t> positions) const;

  std::size_t memory_bytes() const { return reference_.capacity() * sizeof(KernelCount); }

 private:
  void count(std::span<const std::uint32_t> positions);
  float median_count();
  void rate();

  std::span<const std::uint32_t> cuts_;
  std::vector<KernelCount> reference_;
  double reference_length_ = 0;
  double mean_similarity_ = 0;
  double worst_mismatch_ = 0;
  std::uint32_t longest_ = 0;
  std::array<double, kMost> matched_{};
  // Of the kernel being looked at: its counts in the segments where it occurs.
  struct Occurrence {
    std::uint32_t segment;
    std::uint32_t count;
  };
  std::array<Occurrence, kMost> occurrences_{};
  std::size_t occurring_ = 0;
  std::array<std::uint32_t, kMost> sorted_{};
};

}  // namespace hypermile
