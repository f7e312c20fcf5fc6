// SPDX-License-Identifier: Apache-2.0
//
// Runs the detector over a labelled stream and judges it. Used by the evidence and by tests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "evidence/progress/labelled_stream.h"
#include "progress/launch_detector.h"

namespace hypermile {

// Records everything that the detector reports.
struct DetectorTrace final : DetectorSink {
  struct Locked {
    Pattern pattern;
    Lock lock;
    std::size_t first_boundary = 0;  // index in `boundaries`
  };
  struct Levels {
    std::vector<OuterLevel> outer;
    std::uint64_t launch = 0;  // launch of the level 0 boundary before it
    Instant time;
  };
  struct Broken {
    std::uint32_t phase = 0;
    Instant since, time;
    std::uint64_t launch = 0;  // launch at which the break was reported
  };
  std::vector<Locked> locks;
  std::vector<Boundary> boundaries;  // of level 0
  std::vector<Boundary> outer;       // of the outer levels
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

struct DetectorTrial {
  std::optional<Seconds> lock_after;  // nullopt if it never locked
  double lock_iterations = 0;         // true iterations from the start to the lock
  double ratio_at_lock = 0;           // counted over true iterations at the first lock
  double worst_count = 0;             // counted minus true, over the worst locked stretch
  bool wrong = false;
  unsigned relevels = 0;
  unsigned breaks = 0;
  double locked_share = 0;            // share of the time
  std::optional<double> level_after;  // outer iterations until the right outer level was reported
  bool level_right = false;           // the outer level at the end is the true one
};
// A trial is wrong if a lock is more than 3 % off at its instant, if any re-level happens, or if
// the count of a locked stretch is off by more than 2 % + 2.
DetectorTrial try_detector(const LabelledStream& stream, std::uint64_t from);

// Tries from `starts` places: the first launch, and others at random in the first half.
std::vector<DetectorTrial> try_starts(const LabelledStream& stream, std::size_t starts,
                                      Random& random);

}  // namespace hypermile
