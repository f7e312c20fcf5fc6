// SPDX-License-Identifier: Apache-2.0
//
// When the energy counter moves. It steps like clockwork (every 100.00 ms on an H200, within a
// millisecond or two over minutes), so reads that bracket a step now and then fix the rhythm, and
// any one read between two steps then tells the energy at the instant of the earlier one, far more
// sharply than the read's own time would. Until the rhythm is known a step lies in the middle of
// its bracket. A counter without a rhythm (none is seen in a few seconds) stays bracketed.
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
  Seconds uncertainty;  // half the width of where the step may lie
};

class CounterClock {
 public:
  // One read, in order of time. Returns the step it tells of: the newest one before it, where that
  // can be placed in time and was not told before.
  std::optional<CounterStep> add(Instant time, Joules energy);

  // Known once a handful of brackets agree.
  std::optional<Seconds> period() const { return period_; }
  // Half the width of where a step may lie; absent until the rhythm is known.
  std::optional<Seconds> uncertainty() const;
  // The last step at or before `time`; absent until the rhythm is known.
  std::optional<Instant> step_before(Instant time) const;
  // Reads that would sharpen the rhythm most: just at the next step after `time`.
  std::optional<Instant> next_step(Instant time) const;
  // Not moved for a second while it was read, or moved backwards.
  bool stands_still() const { return still_; }

 private:
  struct Bracket {
    Instant before;  // not yet moved
    Instant after;   // moved
  };
  void learn();
  void narrow(const Bracket& bracket);
  void forget();

  std::vector<Bracket> brackets_;
  std::optional<Seconds> period_;
  Instant low_;  // the reference step lies between these
  Instant high_;
  std::optional<Instant> read_;
  std::optional<Joules> shown_;
  std::optional<Instant> moved_;
  bool still_ = false;
};

}  // namespace hypermile
