// SPDX-License-Identifier: Apache-2.0
//
// Looks for the repeating pattern in a stretch of the launch stream. The guesses are the classes of
// tokens that occur equally often; the best is the one whose segments are most alike, and of those
// about as good the finest: layers inside an iteration are unlike each other (forward, backward)
// and drop out, micro-batches are alike and stay.
//
// Costs about 0.1 µs a launch looked at. Answers nothing rather than something doubtful.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "progress/segmentation.h"
#include "progress/token_classes.h"
#include "progress/tokens.h"

namespace hypermile {

// A repeating pattern as the tracker follows it.
struct Reference {
  TokenName anchor;
  std::vector<KernelCount> counts;      // of one iteration
  std::vector<KernelNumber> witnesses;  // kernels launched exactly once an iteration, in order
  double similarity = 0;                // of its iterations to `counts`
  double quality = 0;                   // similarity, or evenness where that is the better witness
  double worst_mismatch = 0;            // launches by which an iteration differed at most
  // Launches of all but the shortest tenth of iterations; 0 where their lengths vary.
  double shortest = 0;
  double longest = 0;  // launches of the longest iteration
  double length() const;
};

struct Finding {
  Reference reference;
  double gap = 0;  // launches per iteration, mean
  // Share of the time that lies in the two longest pauses of each iteration; 1 where iterations are
  // long and nobody asks.
  double waits = 1;
  std::uint64_t first_boundary = 0;  // number of the first launch that is the anchor
};

class Analysis {
 public:
  // Looks at the launches [begin, end) of the ring.
  std::optional<Finding> run(const LaunchRing& ring, std::uint64_t begin, std::uint64_t end);

  std::size_t memory_bytes() const;

 private:
  struct Rated {
    const TokenClass* of = nullptr;
    double quality = 0;
    double gap = 0;
    Seconds each;  // time between two occurrences
  };
  std::vector<Rated> rate_classes(const LaunchRing& ring);
  static bool good_enough(const Rated& finer, const Rated& top, double ratio);
  // nullopt where the class fails a closer look.
  std::optional<Finding> describe(const LaunchRing& ring, const TokenClass& of);
  double quality(const TokenClass& of) const;
  double waits(const LaunchRing& ring, std::span<const std::uint32_t> cuts) const;
  const Token& choose_anchor(const LaunchRing& ring, const TokenClass& of) const;
  // nullopt when too few tokens occur once an iteration.
  std::optional<std::vector<KernelNumber>> choose_witnesses(const TokenClass& of) const;

  TokenTable table_;
  TokenClasses classes_;
  Segmentation segmentation_;
};

}  // namespace hypermile
