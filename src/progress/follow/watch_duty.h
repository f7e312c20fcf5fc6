// SPDX-License-Identifier: Apache-2.0
//
// Decides when a process's launches need not be watched. Watching costs about 0.6 µs per launch,
// nearly all of it in CUPTI, so a loop that does nothing but launch would lose one or two percent.
// Once the pattern is known, little needs to be seen: now and then a stretch long enough for a
// Window, and short glances in between to check that the job still does the same. If no pattern
// shows for a minute, it is searched only now and then. Loops with few launches are watched all the
// time.
//
// Pure arithmetic on what ProcessProgress reports; no clock, no ring, no failures.
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/units.h"

namespace hypermile {

struct DutyTerms {
  double bearable = 0.0025;                // share of the job's time that watching may cost
  Seconds per_launch = microseconds(0.6);  // cost of watching one launch, on an H200's host
  Seconds settle = Seconds(10);        // watch this long after a lock before anything is missed…
  Seconds settle_known = Seconds(4);   // …or this long if the phase was met before
  Seconds glance = milliseconds(100);  // a glance lasts this long, and at least one iteration
  double glances = 0.05;               // share of the time that glances may take
  Seconds hopeless = Seconds(60);  // after so long without a pattern, search only now and then…
  Seconds look = Seconds(8);       // …for this long at a time
  Seconds longest = Seconds(50);   // longest dark stretch
};

// What the job's observer wants to see.
struct Attention {
  bool closely = false;           // watch everything; else only as much as the job does not feel
  Seconds window = Seconds(2.0);  // how long a usable Window takes
  bool operator==(const Attention&) const = default;
};

class WatchDuty {
 public:
  // What is known of a process whose launches are being watched.
  struct View {
    bool certain = false;            // its pattern is locked, or it ticks
    bool known_phase = false;        // its phase was met before
    bool ticks = false;              // it reports its own iterations, so no glances are needed
    Seconds window = Seconds(2);     // how long a Window takes
    bool measured = false;           // watched for that long without a break
    double iterations = 0;           // whole iterations seen without a break
    double launches_per_second = 0;  // recently
  };

  explicit WatchDuty(const DutyTerms& terms = {}) : terms_(terms) {}

  // Launches are watched from `time` on, for the first time or again.
  void watching_since(Instant time);
  // The job launches nothing at `now`, so that watching costs nothing and shows nothing.
  void resting(Instant now);
  // Called often while launches are watched. Returns the time until which they need not be watched,
  // or nullopt to go on watching.
  std::optional<Instant> dark_until(Instant now, const View& view);

 private:
  std::optional<Instant> look_now_and_then(Instant now, double share);

  DutyTerms terms_;
  std::optional<Instant> watching_;       // start of the current stretch
  std::optional<Instant> certain_since_;  // not reset by dark stretches
  std::optional<Instant> lost_since_;     // no pattern since then; not reset by dark stretches
  std::optional<Instant> measured_;  // end of the last stretch that was long enough for a Window
  Seconds last_glance_ = terms_.glance;
};

}  // namespace hypermile
