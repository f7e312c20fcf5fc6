// SPDX-License-Identifier: Apache-2.0
//
// The period of a training job from NVML alone: power, utilisation and the energy counter. It is
// right or it refuses.
//
// Registers show power at instants, every 100 ms: a job whose iterations take 54 ms shows there as
// a clean wave of 0.65 s, and nothing in that series can tell. What can is a sensor that averages.
// The energy counter is the integral of power: over a step of 100 ms it lets a wave of a second
// pass and swallows one of 54 ms. So a period is believed only if the counter shows it as large as
// instant power does; without a counter, utilisation, which is an average too, must show it
// plainly. Everything shorter than seven samples is refused.
#pragma once

#include <optional>
#include <string>

#include "base/units.h"
#include "progress/spectrum/nvml_trace.h"

namespace hypermile {

struct SpectralAnswer {
  std::optional<Seconds> period;
  double iterations = 0;  // that fit into the recording
  double confidence = 0;  // 0..1
  std::string reason;     // why there is no period
};

SpectralAnswer detect_period(const NvmlTrace& trace);

}  // namespace hypermile
