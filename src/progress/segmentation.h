// SPDX-License-Identifier: Apache-2.0
//
// Cuts a stretch of the launch stream into segments and measures how alike they are. The reference
// is a median segment: the median count of each kernel. The similarity of a segment is the share of
// its launches that the reference explains. Part of the analysis.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "progress/tokens.h"

namespace hypermile {

struct KernelCount {
  KernelNumber kernel = 0;
  float count = 0;
};

// Matched launches divided by the launches of the longer of the two.
inline double similarity(double matched, double length, double reference_length) {
  const double longer = length > reference_length ? length : reference_length;
  return longer > 0 ? matched / longer : 0;
}

class Segmentation {
 public:
  static constexpr std::size_t kMost = 256;  // if there are more segments, the last ones are used

  Segmentation() { reference_.reserve(KernelNumbers::kMost); }

  // `cuts` are at least two ascending positions in the table's stretch.
  void cut(const TokenTable& table, std::span<const std::uint32_t> cuts);

  // Mean over all segments, weighted by length: 0..1.
  double mean_similarity() const { return mean_similarity_; }
  // The share of segments that the reference explains nearly to the launch.
  double usual_share() const { return usual_share_; }
  // The most launches by which a segment differs from the reference.
  double worst_mismatch() const { return worst_mismatch_; }
  // Launches of the shortest segment, not counting the shortest tenth.
  std::uint32_t shortest();
  std::uint32_t longest() const { return longest_; }
  std::size_t segments() const { return cuts_.size() - 1; }
  std::span<const KernelCount> reference() const { return reference_; }
  double reference_length() const { return reference_length_; }
  // The share of segments that contain exactly one of `positions`.
  double once_in(std::span<const std::uint32_t> positions) const;
  // The share of launches whose kernels occur in at least `share` of the segments.
  double present(const TokenTable& table, double share);
  // Kernels of which at least `share` of the segments contain exactly the median number.
  std::vector<KernelNumber> constant(const TokenTable& table, double share);
  // Where `positions` stand in their segments, as a share of the segment's length.
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
  double usual_share_ = 0;
  double worst_mismatch_ = 0;
  std::uint32_t longest_ = 0;
  std::array<double, kMost> matched_{};
  // The kernel being counted: its count in each segment where it occurs.
  struct Occurrence {
    std::uint32_t segment;
    std::uint32_t count;
  };
  std::array<Occurrence, kMost> occurrences_{};
  std::size_t occurring_ = 0;
  std::array<std::uint32_t, kMost> sorted_{};
};

}  // namespace hypermile
