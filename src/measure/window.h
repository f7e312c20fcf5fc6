// SPDX-License-Identifier: Apache-2.0
//
// A Window is an interval at one Setting, reduced to what a decision needs: how long an iteration
// took and what it cost, each with its standard error, or the reason why the interval is worth
// nothing. Policies see Windows and nothing else of the world.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/units.h"
#include "gpu/setting.h"
#include "progress/boundary.h"

namespace hypermile {

class Features;

// What kind of reason makes a Window unusable, as far as somebody acts on it.
enum class Refusal {
  kOther,  // of the moment: taken again it may be good
  // Heat or the hardware held the clock down, and nothing else is wrong with it: the figures are
  // true, but the Setting is faster than that when the card is cool.
  kHeldBack,
  kClockNotReached,  // what the Setting does on this card: taken again it would be no better
  kIdle,             // the GPU waited for the job: its own pace, whatever the clock
  kPaused,           // the job's own pace, but not that of its iterations
  kNoPower,
};

struct Window {
  Setting setting;  // what was asked for; empty is the driver's default
  Instant begin;
  Seconds duration;
  double first_iteration = 0;  // how far the job had come when it began
  double iterations = 0;       // measured in it: of the job, or units of work

  std::optional<Seconds> time_per_iteration;
  std::optional<Watts> power;  // mean, whole board
  std::optional<Joules> energy;
  // Relative standard errors of the two means above, where there was enough to estimate them:
  // widened where few readings speak for them, so that 1.96 of them on either side cover the
  // truth in 95 of 100 Windows.
  std::optional<double> time_error;
  std::optional<double> power_error;

  std::optional<Mhz> sm_clock;      // mean seen
  std::optional<Mhz> memory_clock;  // mean seen
  double throttled_share = 0;       // of the samples in it
  bool aborted = false;             // cut short because the Setting was plainly too slow

  // Known where the Window was measured between Boundaries (window_builder.h).
  PatternId pattern;                           // what an iteration is; compare only equal ones
  std::optional<Joules> energy_per_iteration;  // not power × time: both vary with long batches
  std::optional<double> energy_error;          // of that, as above
  // Energy counter against integrated power, as counter / integral - 1, where both are known.
  std::optional<double> energy_disagreement;
  bool gpu_timed = false;  // time per iteration is the GPU's own, not the host's
  // What the job asks of the GPU (features.h): on a baseline for which it was collected, else null.
  std::shared_ptr<const Features> features;

  // Why it must not be used for a decision; empty when it may be.
  std::string unusable;
  Refusal refusal = Refusal::kOther;  // of what kind that is; not in the event log
  bool usable() const { return unusable.empty() && time_per_iteration && power; }
  bool held_back() const { return refusal == Refusal::kHeldBack; }
};

}  // namespace hypermile
