// SPDX-License-Identifier: Apache-2.0
//
// A Window is an interval at one Setting, reduced to what a decision needs: time and energy per
// iteration, each with its standard error, or the reason why the interval is unusable.
// WindowBuilder and WindowMeter make Windows; policies see nothing else of the world. A plain
// value: nothing here can fail.
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
struct SensorTrace;

// Why a Window is unusable, as far as a caller acts on the reason.
enum class Refusal {
  kOther,  // a passing trouble: the same Setting may give a usable Window next time
  // Heat or the hardware held the clock down, and nothing else is wrong: the figures are true, but
  // the Setting is faster once the card is cool.
  kHeldBack,
  kClockNotReached,  // the card cannot run this Setting: another try would not help
  kIdle,             // the GPU waited for the job, which therefore ran at its own pace at any clock
  kPaused,           // the job paused, so the time per iteration is not that of its iterations
  kNoPower,
};

struct Window {
  Setting setting;  // as requested; empty means the driver's default
  Instant begin;
  Seconds duration;
  double first_iteration = 0;  // iterations that the job had done when the Window began
  double iterations = 0;       // iterations of the job, or units of work, within the Window

  std::optional<Seconds> time_per_iteration;
  std::optional<Watts> power;  // mean of the whole board
  std::optional<Joules> energy;
  // Relative standard errors of the two means above, absent with too little data. Few readings make
  // them wider, so that ±1.96 of them cover the truth in 95 of 100 Windows.
  std::optional<double> time_error;
  std::optional<double> power_error;

  std::optional<Mhz> sm_clock;      // mean of the samples
  std::optional<Mhz> memory_clock;  // mean of the samples
  double throttled_share = 0;       // share of the samples in the Window
  bool aborted = false;             // cut short because the Setting was clearly too slow

  // The next five are known only where the Window was measured between Boundaries
  // (window_builder.h).
  PatternId pattern;  // what counts as one iteration; compare only Windows of equal patterns
  // measured, not power × time, since long batches change both
  std::optional<Joules> energy_per_iteration;
  std::optional<double> energy_error;  // relative standard error of energy_per_iteration
  // Energy counter against integrated power, as counter / integral - 1, where both are known.
  std::optional<double> energy_disagreement;
  // True: GPU timestamps gave the time per iteration; false: the host's clock.
  bool gpu_timed = false;
  // The load that the job puts on the GPU (features.h); null unless it was collected for a
  // baseline.
  std::shared_ptr<const Features> features;
  // NVML's readings while the Setting was in force; null unless the Step asked for them.
  std::shared_ptr<const SensorTrace> trace;

  // Why no decision may use this Window; empty when decisions may.
  std::string unusable;
  Refusal refusal = Refusal::kOther;  // kind of `unusable`; the event log does not record it
  bool usable() const { return unusable.empty() && time_per_iteration && power; }
  bool held_back() const { return refusal == Refusal::kHeldBack; }
};

}  // namespace hypermile
