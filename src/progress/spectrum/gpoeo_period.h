// SPDX-License-Identifier: Apache-2.0
//
// GPOEO's period detector, written from a description of its authors' program, with their
// constants: peaks of the spectrum, the candidate whose consecutive stretches are most alike, and
// rolling windows that must agree. It sees nothing below 0.4 s and mistakes aliases of shorter
// periods for the truth, so spectral_detector.h is the one to trust. This one is the baseline for
// comparisons, and the GPOEO policy uses it. Pure functions.
//
// Left out: the prior from the previous probe (it needs a change of clock) and the adaptive upper
// bound across probes.
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

struct GpoeoPeriod {
  Seconds period;
  Seconds used;  // how much of the recording was needed
};

// Uses a growing window from the start of the recording, as the online detector would. nullopt if
// it calls the job aperiodic or the recording ends too early. `rate` is in Hz.
std::optional<GpoeoPeriod> gpoeo_period(std::span<const double> composite, double rate,
                                        GpoeoStrictness strictness = GpoeoStrictness::kStrict);

}  // namespace hypermile
