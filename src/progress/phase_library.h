// SPDX-License-Identifier: Apache-2.0
//
// Remembers the confirmed phases of a job (training, evaluation). A phase that comes back is
// recognised within two iterations and keeps its number, so that a baseline measured in it is valid
// again. While no pattern is locked, the detector searches the stream for all remembered phases at
// once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "progress/analysis.h"

namespace hypermile {

class PhaseLibrary {
 public:
  // A new phase replaces the one that was not used for longest.
  static constexpr std::size_t kMost = 8;
  static constexpr unsigned kRecurs = 2;  // what came once may be a part of the start-up

  struct Phase {
    std::uint32_t number = 0;
    Reference reference;
    std::uint64_t used = 0;
    // The longest interlude, an evaluation, after which the job returned to this phase; 0 if none.
    Seconds interlude = {};
    unsigned evaluations = 0;  // that were phases of their own, and from which the job returned
    // Other stages of a round from which the job returned, see other_stage.h: how many, the
    // launches of the shortest, and the launch where the first began.
    unsigned other_stages = 0;
    std::uint64_t shortest_other = 0;
    std::uint64_t first_other = 0;
    bool is_stage() const { return other_stages >= kRecurs; }
  };

  struct Match {
    std::uint32_t number = 0;
    std::uint64_t first_boundary = 0;  // first boundary of the iterations that match
  };

  PhaseLibrary();

  struct Recognised {
    std::uint32_t number = 0;
    bool known = false;
  };
  // The number of this phase: the old one if it is known, else the next.
  Recognised recognise(const Reference& reference);
  // Replaces the remembered reference of a phase, for instance after it was followed for a while.
  void update(std::uint32_t number, Reference reference);
  std::span<const Phase> phases() const { return phases_; }
  const Phase* find(std::uint32_t number) const;
  // The job returned to the phase after `interlude`; `evaluated` if that was a phase of its own.
  void came_back(std::uint32_t number, Seconds interlude, bool evaluated);
  // The job returned to the phase from another stage of its rounds, which began at launch `begin`.
  void came_back_from_stage(std::uint32_t number, std::uint64_t begin, std::uint64_t launches);

  // Starts to look for the phases at this launch.
  void search_from(std::uint64_t launch);
  // Looks at a few more launches of the ring, so that it catches up with the newest in O(1) per
  // launch. Each match is reported once.
  std::optional<Match> search(const LaunchRing& ring);

  std::size_t memory_bytes() const;

 private:
  struct Search {
    std::vector<std::uint16_t> counts;  // by kernel, for the open segment
    std::vector<KernelNumber> touched;
    bool open = false;
    std::uint64_t start = 0;  // first launch of the segment
    std::uint64_t run_start = 0;
    unsigned run = 0;  // consecutive segments that match
    double length = 0;
  };

  bool look(Search& search, const Phase& phase, const LaunchRing& ring, std::uint64_t launch);
  bool matches(const Search& search, const Phase& phase, std::uint64_t segment_length) const;
  static double witnesses_come(const Search& search, const Reference& reference);
  static void clear(Search& search);

  std::vector<Phase> phases_;
  std::vector<Search> searches_;  // one for each phase
  std::uint64_t next_launch_ = 0;
  std::uint64_t uses_ = 0;
  std::uint32_t next_number_ = 0;
};

}  // namespace hypermile
