// SPDX-License-Identifier: Apache-2.0
//
// One run of the detector over a labelled stream, and what is to be held against it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "evidence/progress/labelled_stream.h"
#include "progress/launch_detector.h"

namespace hypermile {

// Keeps everything the detector tells.
struct DetectorTrace final : DetectorSink {
  struct Locked {
    Pattern pattern;
    Lock lock;
    std::size_t first_boundary = 0;  // in `boundaries`
  };
  struct Levels {
    std::vector<OuterLevel> outer;
    std::uint64_t launch = 0;  // of the level 0 boundary before it
    Instant time;
  };
  struct Broken {
    std::uint32_t phase = 0;
    Instant since, time;
    std::uint64_t launch = 0;  // at which it was told
  };
  std::vector<Locked> locks;
  std::vector<Boundary> boundaries;  // of level 0
  std::vector<Boundary> outer;       // of the others
  std::vector<Levels> levels;
  std::vector<Broken> breaks;
  std::vector<Instant> idles;
  const LaunchDetector* detector = nullptr;

  void locked(const Pattern& pattern, const Lock& lock) override;
  void boundary(const Boundary& boundary) override;
  void levels_changed(const Pattern& pattern, Instant time) override;
  void broken(const Pattern& pattern, Instant since, Instant time) override;
  void idle(Instant since) override { idles.push_back(since); }
};

// Feeds launches [from, end) of a stream one by one. The trace counts launches from `from`.
DetectorTrace trace(const LabelledStream& stream, std::uint64_t from);

struct Trial {
  std::optional<Seconds> lock_after;  // nullopt: never locked
  double lock_iterations = 0;         // true ones from the start to the lock
  double ratio_at_lock = 0;  // iterations counted over true ones, first lock, at its instant
  double worst_count = 0;    // counted minus true, over the worst locked stretch
  bool wrong = false;
  unsigned relevels = 0;
  unsigned breaks = 0;
  double locked_share = 0;            // of the time
  std::optional<double> level_after;  // outer iterations until the right outer level was told
  bool level_right = false;           // what stands at the end is what is true
};
// Wrong is: at the instant of a lock more than 3 % off; any re-level; a locked stretch whose count
// is more than 2 % + 2 off.
Trial try_detector(const LabelledStream& stream, std::uint64_t from);

// From `starts` places, the first launch and others at random in the first half.
std::vector<Trial> try_starts(const LabelledStream& stream, std::size_t starts, Random& random);

}  // namespace hypermile
