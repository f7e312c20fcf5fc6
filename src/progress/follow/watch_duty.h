// SPDX-License-Identifier: Apache-2.0
//
// When a process's launches need not be watched. Watching costs a launch about 0.6 µs, nearly all
// of it CUPTI's: a loop that does nothing but launch would lose a percent or two for good. Once its
// pattern is known, little of it need be seen: now and then a stretch long enough for a Window, and
// in between glances, long enough to know whether the job still does what it did. Where no pattern
// shows for a minute, one is looked for now and then only. Loops that launch too seldom to feel it
// are watched all the time.
//
// Pure arithmetic on what ProcessProgress tells it; no clock, no ring.
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/units.h"

namespace hypermile {

struct DutyTerms {
  double bearable = 0.0025;                // share of the job's time that watching may cost
  Seconds per_launch = microseconds(0.6);  // what it costs, on an H200's host
  Seconds settle = Seconds(10);            // of a lock before anything is missed…
  Seconds settle_known = Seconds(4);       // …where the phase was met before
  Seconds glance = milliseconds(100);      // at least, and an iteration
  double glances = 0.05;                   // share of the time that they may take
  Seconds hopeless = Seconds(60);          // without a pattern, then a look…
  Seconds look = Seconds(8);               // …so long at a time
  Seconds longest = Seconds(50);           // without seeing anything
};

// What somebody who follows the job wants to see of it.
struct Attention {
  bool closely = false;           // everything; else as much as a job does not feel
  Seconds window = Seconds(2.0);  // what a Window takes that can be used
  bool operator==(const Attention&) const = default;
};

class WatchDuty {
 public:
  // What is known of a process whose launches are watched now.
  struct View {
    bool certain = false;            // its pattern is locked, or it ticks
    bool known_phase = false;        // met before
    bool ticks = false;              // it tells itself what it does: no glances are needed
    Seconds window = Seconds(2);     // what one takes
    bool measured = false;           // seen for as long without a break
    double iterations = 0;           // whole ones, seen without a break
    double launches_per_second = 0;  // of late
  };

  explicit WatchDuty(const DutyTerms& terms = {}) : terms_(terms) {}

  // Launches are watched again, or for the first time.
  void watching_since(Instant time);
  // While they are watched, as often as is convenient: until when they need not be from now on;
  // nullopt: go on watching.
  std::optional<Instant> step(Instant now, const View& view);

 private:
  std::optional<Instant> look_now_and_then(Instant now, double share);

  DutyTerms terms_;
  std::optional<Instant> watching_;       // the present stretch
  std::optional<Instant> certain_since_;  // over dark stretches
  std::optional<Instant> lost_since_;     // nothing was, likewise
  std::optional<Instant> measured_;       // end of the last stretch that was
  Seconds last_glance_ = terms_.glance;
};

}  // namespace hypermile
