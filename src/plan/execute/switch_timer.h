// SPDX-License-Identifier: Apache-2.0
//
// Tells where a job is in its iteration, and where it will be. It learns from past boundaries how
// long each segment of a plan lasts, so that a setting can be requested early enough. After the
// last segment comes the first. Pure; the caller passes the time.
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
  // `expected` durations are used until a segment has been seen. At least one segment.
  explicit SwitchTimer(std::vector<Seconds> expected);

  // Segment `number` begins at `at`; calls are in order of time. A segment that does not follow the
  // one before (a boundary was lost, or the job left its iteration) only sets the position.
  void passed(std::size_t number, Instant at);

  // The segment that will run at `then`, as seen from `now`. A late boundary is expected at any
  // moment, and the following ones are delayed as much. nullopt before the first boundary, and
  // where the job stands still: no boundary for 1 s and for three iterations.
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
  std::vector<std::uint64_t> seen_;  // how often each whole segment was seen
  std::optional<std::size_t> position_;
  Instant since_;
};

}  // namespace hypermile
