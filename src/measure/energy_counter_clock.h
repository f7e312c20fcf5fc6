// SPDX-License-Identifier: Apache-2.0
//
// Finds out when the energy counter moves. The counter steps like clockwork (every 100.00 ms on an
// H200, within a millisecond or two over minutes). A few reads that bracket steps fix this rhythm;
// from then on a single read between two steps gives the energy at the instant of the earlier one.
// The rhythm's own offset within its bracket matters little, since it shifts all steps equally and
// only differences are used.
//
// Until the rhythm is known, a step is placed in the middle of its bracket; on a counter that
// moves between any two reads, at the read itself. Used by Sampler on its thread; cannot fail.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/units.h"

namespace hypermile {

// The counter's value became `energy` at `time`.
struct EnergyCounterStep {
  Instant time;
  Joules energy;
};

class EnergyCounterClock {
 public:
  // Takes one read; reads come in order of time. Returns the newest step before it, unless that
  // step was already returned or cannot be placed in time.
  std::optional<EnergyCounterStep> add(Instant time, Joules energy);

  // True once it is known how the counter moves: in a rhythm, or faster than it is read.
  bool known() const { return period_ || fast_; }
  // Period of the rhythm; known once six brackets agree.
  std::optional<Seconds> period() const { return period_; }
  // True where a read at `time` falls well between two steps, so that it is clear which step it
  // shows; also true while the rhythm is unknown.
  bool good_time(Instant time) const;
  // True where the counter has been read without moving for a second, and for longer than it rests
  // between two steps.
  bool stands_still() const { return still_; }

 private:
  struct Bracket {
    Instant before;  // read before the counter moved
    Instant after;   // first read after the counter moved
  };
  void learn(const Bracket& bracket);
  void follow(const Bracket& bracket);
  void forget();
  // Time from the reference step to `time`, in steps, with its fraction.
  double steps_at(Instant time) const;
  std::optional<EnergyCounterStep> placed(const Bracket& bracket, Joules energy);

  std::vector<Bracket> brackets_;  // empty once the rhythm is known
  bool fast_ = false;              // the counter moves between any two reads
  std::optional<Seconds> period_;
  Instant low_;  // the reference step lies between low_ and high_
  Instant high_;
  std::optional<std::int64_t> told_;  // number of the step that was returned last
  std::optional<Instant> read_;       // time of the newest read
  Instant moved_;                     // time of the newest read that showed a new value
  Joules shown_;
  Seconds longest_rest_;
  bool still_ = false;
};

}  // namespace hypermile
