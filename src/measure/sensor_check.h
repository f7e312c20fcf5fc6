// SPDX-License-Identifier: Apache-2.0
//
// Holds the energy counter, the power samples and the most that a card can draw against each other,
// because each of them has been seen to lie: counters that stand still, run 160 times too fast,
// jump or wrap; power that is zero, frozen at nonsense or not a number; times that go back. What
// cannot be true is taken out of a reading, so that nobody further on sees it. A counter that goes
// on lying is given up: energy then comes from the power samples. Where counter and samples are
// both possible and disagree, nobody knows which is wrong: the Window says so itself
// (window_refusal.h).
//
// Used by Sampler on its thread; cannot fail.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "gpu/gpu.h"

namespace hypermile {

class SensorCheck {
 public:
  explicit SensorCheck(const Capabilities& card);

  // Takes out what cannot be true. Readings and histories each come in order of their reads.
  void check(Sample& sample);
  void check(std::vector<TimedPower>& history, Instant now);

  // The counter was given up, and is not worth reading any more.
  bool counter_given_up() const { return !why_given_up_.empty(); }
  // For one line to a person, each finding once; "" where there is nothing new.
  std::string take_finding();

 private:
  // The counter and the power samples since the counter was read at `begin`.
  struct Stretch {
    Instant begin;
    Joules energy;
    double power_sum_w = 0;
    int powers = 0;
  };

  bool possible(Watts power) const;
  void drop_unless_possible(std::optional<Watts>& power);
  std::optional<Joules> accept(Instant time, Joules shown);
  void compare(Instant time, Joules shown);
  void strike(const std::string& why);
  std::optional<Watts> sampled() const;
  void tell(const std::string& finding);

  std::optional<Watts> most_;  // that the card can draw for long; nullopt: not known
  std::optional<Instant> newest_;
  std::optional<Stretch> stretch_;
  // The last value that was believed, as the counter showed it, and since when no other was.
  std::optional<Joules> believed_;
  Instant believed_at_;
  Joules shift_;  // added to what the counter shows, so that a restart leaves no step
  int strikes_ = 0;
  int impossible_powers_ = 0;
  std::string why_given_up_;
  std::vector<std::string> told_, to_tell_;
};

}  // namespace hypermile
