// SPDX-License-Identifier: Apache-2.0
//
// Where in its iteration a job is, and where it will be: learns from boundaries that come by how
// long each segment of a plan lasts, so that a Setting can be asked for as long ahead as it takes
// to act. Iterations repeat: after the last segment comes the first. Pure; time is what it is told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/units.h"

namespace hypermile {

class SwitchTimer {
 public:
  // `expected` durations of the segments hold until they have been seen; at least one segment.
  explicit SwitchTimer(std::vector<Seconds> expected);

  // Segment `number` begins at `at`; in order of time. One that is not the next after the last (a
  // boundary was lost, the job left its iteration midway) only tells where the job is.
  void passed(std::size_t number, Instant at);

  // The segment that will run at `then`, as seen from `now`: a boundary that is late is taken to
  // come any moment, and what follows it later by as much. nullopt before the first boundary, and
  // when the job has stood still for longer than iterations do.
  std::optional<std::size_t> segment_at(Instant then, Instant now) const;
  // The first instant after `then` at which another segment begins, as seen from `now`; nullopt as
  // above.
  std::optional<Instant> next_boundary(Instant then, Instant now) const;

  Seconds duration(std::size_t number) const { return durations_[number]; }
  Seconds iteration() const;

 private:
  struct Place {
    std::size_t segment = 0;
    Instant end;
  };
  std::optional<Place> place_at(Instant then, Instant now) const;

  std::vector<Seconds> durations_;
  std::vector<std::uint64_t> seen_;  // how often each was seen whole
  std::optional<std::size_t> position_;
  Instant since_;
};

}  // namespace hypermile
