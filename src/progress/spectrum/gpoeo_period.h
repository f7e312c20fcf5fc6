// SPDX-License-Identifier: Apache-2.0
//
// GPOEO's period detector, written from a description of its authors' program, with their
// constants: peaks of the spectrum, the candidate whose consecutive stretches are most alike, and
// rolling windows that must agree. It sees nothing below 0.4 s and mistakes aliases of shorter
// periods for the truth, so spectral_detector.h is the one to trust. The policy `gpoeo-published`
// asks it about the job that it runs beside, and docs/evidence/spectrum.md compares it with ours.
// Pure functions.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/units.h"

namespace hypermile {

// Combines power (percent of the limit), GPU and memory utilisation (percent) into one signal.
// Signs are chosen so that opposite signals do not cancel. All three must be equally long.
std::vector<double> gpoeo_composite(std::span<const double> power, std::span<const double> gpu,
                                    std::span<const double> memory);

enum class GpoeoStrictness { kStrict, kNormal, kRelaxed };

// What an earlier probe says of the period: it lies between these shares of it.
struct GpoeoPrior {
  Seconds period;
  double least = 0.8;
  double most = 1.5;
};

struct GpoeoQuestion {
  GpoeoStrictness strictness = GpoeoStrictness::kStrict;
  Seconds longest = Seconds(15);  // no period above this is considered; adapts between probes
  std::optional<GpoeoPrior> prior = {};
};

inline constexpr Seconds kGpoeoFirstWindow = Seconds(25);

struct GpoeoAnswer {
  enum class Kind { kPeriod, kMore, kAperiodic } kind = Kind::kMore;
  Seconds period;             // kPeriod; otherwise the best guess so far, 0 where there is none
  Seconds more = Seconds(5);  // kMore: sample for this much longer and ask again
};

// What the detector says of everything sampled so far. `rate` is in Hz.
GpoeoAnswer gpoeo_ask(std::span<const double> composite, double rate,
                      const GpoeoQuestion& question);

struct GpoeoPeriod {
  Seconds period;
  Seconds used;  // how much of the recording was needed
};

// Asks with a growing window from the start of the recording, as the online detector would. nullopt
// if it calls the job aperiodic or the recording ends too early: before its first window of 25 s,
// or before it is sure.
std::optional<GpoeoPeriod> gpoeo_period(std::span<const double> composite, double rate,
                                        GpoeoStrictness strictness = GpoeoStrictness::kStrict);

}  // namespace hypermile
