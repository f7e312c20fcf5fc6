// SPDX-License-Identifier: Apache-2.0
//
// GPOEO's period detector, implemented from a description of its authors' program with their
// constants: peaks of the spectrum,
// the candidate whose consecutive stretches are most alike, rolling windows that must agree. It
// sees nothing below 0.4 s and takes aliases of shorter periods for the truth; spectral_detector.h
// is what we trust. Kept as the baseline it is compared with, and for the GPOEO policy.
//
// Left out: the prior from the probe before (it needs a change of clock) and the adaptive upper
// bound across probes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/units.h"

namespace hypermile {

// Power (percent of the limit), GPU and memory utilisation (percent) as one signal: signs are
// chosen so that signals in opposite phase do not cancel. Equally long.
std::vector<double> gpoeo_composite(std::span<const double> power, std::span<const double> gpu,
                                    std::span<const double> memory);

enum class GpoeoStrictness { kStrict, kNormal, kRelaxed };

struct GpoeoPeriod {
  Seconds period;
  Seconds used;  // of the recording, until it was sure
};

// Feeds a growing window from the recording's start as the online detector would. nullopt where it
// gives up (calls the job aperiodic) or the recording ends before it is sure. `rate` in Hz.
std::optional<GpoeoPeriod> gpoeo_period(std::span<const double> composite, double rate,
                                        GpoeoStrictness strictness = GpoeoStrictness::kStrict);

}  // namespace hypermile
