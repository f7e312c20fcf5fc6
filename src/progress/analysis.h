// SPDX-License-Identifier: Apache-2.0
//
// Searches a stretch of the launch stream for a repeating pattern. Each class of tokens that occur
// equally often is a candidate for the iteration. The best candidate cuts the stretch into segments
// that are most alike; among candidates of about the same quality the finest wins. Layers inside an
// iteration differ from each other (forward, backward), so they lose; micro-batches are alike, so
// they win. Used by the detector. Takes about 0.1 µs per launch, and returns nothing rather than
// something doubtful.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "progress/segmentation.h"
#include "progress/token_classes.h"
#include "progress/tokens.h"

namespace hypermile {

// A repeating pattern, in the form that the tracker follows.
struct Reference {
  TokenName anchor;
  std::vector<KernelCount> counts;      // kernel counts of one iteration
  std::vector<KernelNumber> witnesses;  // kernels launched exactly once per iteration, in order
  double similarity = 0;                // mean similarity of the iterations to `counts`
  double quality = 0;                   // the similarity, or the evenness where that is higher
  double worst_mismatch = 0;            // most launches by which an iteration differed
  // Launches of the shortest iteration, not counting the shortest tenth; 0 if lengths vary.
  double shortest = 0;
  double longest = 0;  // launches of the longest iteration
  // Iterations differ in length, by how often some of their kernels come; see Analysis::elastic.
  // Then iterations are compared by their witnesses alone, and `similarity` is 1.
  bool elastic = false;
  bool interrupted = false;  // a few iterations hold something else; see Analysis::interrupted
  double length() const;
};

// Whether a kernel that comes in constant numbers came as often as it should.
inline bool usual_count(std::uint32_t counted, float reference) {
  return std::abs(static_cast<float>(counted) - reference) <= 0.5F;
}

struct Finding {
  Reference reference;
  double gap = 0;  // mean launches per iteration
  // Share of the time in the two longest pauses of each iteration; 1 for long iterations, where it
  // is not needed.
  double waits = 1;
  std::uint64_t first_boundary = 0;  // number of the first launch that is the anchor
};

class Analysis {
 public:
  // Searches the launches [begin, end) of the ring for iterations of more than `least` launches.
  std::optional<Finding> run(const LaunchRing& ring, std::uint64_t begin, std::uint64_t end,
                             double least = 0);

  std::size_t memory_bytes() const;

 private:
  struct Rated {
    const TokenClass* of = nullptr;
    double quality = 0;
    double gap = 0;
    Seconds each;  // mean time between two occurrences
    bool interrupted = false;
    bool elastic = false;
  };
  std::vector<Rated> rate_classes(const LaunchRing& ring, double least);
  static bool good_enough(const Rated& finer, const Rated& top, double ratio);
  // nullopt if the class does not stand up to a closer look.
  std::optional<Finding> describe(const LaunchRing& ring, const TokenClass& of);
  double quality(const TokenClass& of);
  double plain_quality(const TokenClass& of) const;
  bool interrupted() const;
  bool elastic(const TokenClass& of);
  bool stretches(const TokenClass& of, double plain);
  double waits(const LaunchRing& ring, std::span<const std::uint32_t> cuts) const;
  const Token& choose_anchor(const LaunchRing& ring, const TokenClass& of) const;
  // nullopt if too few tokens occur once per iteration.
  std::optional<std::vector<KernelNumber>> choose_witnesses(const TokenClass& of);

  TokenTable table_;
  TokenClasses classes_;
  Segmentation segmentation_;
};

}  // namespace hypermile
