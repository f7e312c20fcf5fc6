// SPDX-License-Identifier: Apache-2.0
//
// The phases of a job that were confirmed before (training, evaluation), so that one that comes
// back is recognised within two iterations and keeps its number: a baseline measured in it holds
// again. While no pattern is locked the detector lets it watch the stream for all of them at once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "progress/analysis.h"

namespace hypermile {

class PhaseLibrary {
 public:
  static constexpr std::size_t kMost = 8;  // the one not used for longest gives way

  struct Phase {
    std::uint32_t number = 0;
    Reference reference;
    std::uint64_t used = 0;
  };

  struct Match {
    std::uint32_t number = 0;
    std::uint64_t first_boundary = 0;  // of the iterations that match
  };

  PhaseLibrary();

  struct Recognised {
    std::uint32_t number = 0;
    bool known = false;
  };
  // The number of the phase that this is: an old one where it is known, else the next.
  Recognised recognise(const Reference& reference);
  // Replaces what is remembered of a phase, as when it has been followed for a while.
  void update(std::uint32_t number, Reference reference);
  std::span<const Phase> phases() const { return phases_; }
  const Phase* find(std::uint32_t number) const;

  // From here on looks for the phases in the stream.
  void watch_from(std::uint64_t launch);
  // Looks at a few more launches of the ring, so that it catches up with the newest in O(1) steps
  // per launch. A match is told once.
  std::optional<Match> watch(const LaunchRing& ring);

  std::size_t memory_bytes() const;

 private:
  struct Watch {
    std::vector<std::uint16_t> counts;  // by kernel, of the open segment
    std::vector<KernelNumber> touched;
    bool open = false;
    std::uint64_t start = 0;  // of the segment
    std::uint64_t run_start = 0;
    unsigned run = 0;  // segments in a row that match
    double length = 0;
  };

  bool look(Watch& watch, const Phase& phase, const LaunchRing& ring, std::uint64_t launch);
  bool matches(const Watch& watch, const Phase& phase, std::uint64_t segment_length) const;
  static void clear(Watch& watch);

  std::vector<Phase> phases_;
  std::vector<Watch> watches_;  // one a phase
  std::uint64_t next_launch_ = 0;
  std::uint64_t uses_ = 0;
  std::uint32_t next_number_ = 0;
};

}  // namespace hypermile
