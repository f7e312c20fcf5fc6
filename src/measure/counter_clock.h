// SPDX-License-Identifier: Apache-2.0
//
// When the energy counter moves. It steps like clockwork (every 100.00 ms on an H200, within a
// millisecond or two over minutes), so a few reads that bracket steps fix its rhythm, and from then
// on any one read between two steps tells the energy at the instant of the earlier one. Where in
// its bracket the rhythm lies matters little: all steps are off by the same, and only differences
// count.
//
// Until the rhythm is known a step lies in the middle of its bracket; so it stays with a counter
// that moves between any two reads. Used by Sampler; cannot fail.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/units.h"

namespace hypermile {

// The counter came to show `energy` at `time`.
struct CounterStep {
  Instant time;
  Joules energy;
};

class CounterClock {
 public:
  // One read, in order of time. Returns the newest step before it, unless that was told before or
  // cannot be placed in time.
  std::optional<CounterStep> add(Instant time, Joules energy);

  // Whether it is known how it moves: in a rhythm, or faster than it is read.
  bool known() const { return period_ || fast_; }
  // Of the rhythm, known once a handful of brackets agree.
  std::optional<Seconds> period() const { return period_; }
  // Whether a read at `time` would fall well between two steps, where it is plain which one it
  // tells of. True while the rhythm is not known.
  bool good_time(Instant time) const;
  // It was read for a second and did not move.
  bool stands_still() const { return still_; }

 private:
  struct Bracket {
    Instant before;  // read, not yet moved
    Instant after;   // read, moved
  };
  void learn(const Bracket& bracket);
  void follow(const Bracket& bracket);
  void forget();
  // How many steps after the reference `time` is, whole and part.
  double steps_at(Instant time) const;
  std::optional<CounterStep> placed(const Bracket& bracket, Joules energy);

  std::vector<Bracket> brackets_;  // until the rhythm is known
  bool fast_ = false;              // moves between any two reads
  std::optional<Seconds> period_;
  Instant low_;  // the reference step lies between these two
  Instant high_;
  std::optional<std::int64_t> told_;  // number of the step last told
  std::optional<Instant> read_;       // last
  Instant moved_;                     // when it was last seen to have moved
  Joules shown_;
  bool still_ = false;
};

}  // namespace hypermile
