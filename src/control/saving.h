// SPDX-License-Identifier: Apache-2.0
//
// What a phase's Windows prove to have been saved: iterations measured off the default, each
// against what one cost at the default. Nothing is extrapolated to what was not measured, and
// probes that cost energy count against it.
#pragma once

#include <optional>

#include "control/control_summary.h"

namespace hypermile {

struct Ratio {
  double value = 0;                  // 0.05 is 5 %
  std::optional<double> interval95;  // half its width
};

struct Saving {
  double joules = 0;                 // less than at the default; negative where it cost
  std::optional<double> interval95;  // of that
  double iterations = 0;             // measured off the default
};

// nullopt where the default was not measured, or nothing else was.
std::optional<Saving> measured_saving(const PhaseControl& phase);

// Against the default, where both were measured: energy per iteration saved, time per iteration
// lost.
std::optional<Ratio> energy_saved(const PhaseControl& phase, const Setting& setting);
std::optional<Ratio> time_lost(const PhaseControl& phase, const Setting& setting);

}  // namespace hypermile
