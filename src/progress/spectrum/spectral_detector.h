// SPDX-License-Identifier: Apache-2.0
//
// The period of a training job from NVML alone: power, utilisation and the energy counter. It gives
// the right period or refuses. A pure function.
//
// Registers show momentary power every 100 ms: a job with iterations of 54 ms appears there as a
// clean wave of 0.65 s, and nothing in that series reveals the mistake. A sensor that averages
// does. The energy counter integrates power: over 100 ms it passes a wave of one second and removes
// one of 54 ms. So a period is believed only if the counter shows it as strongly as momentary power
// does. Without a counter, utilisation, which is also an average, must show it clearly. Periods
// below seven samples are refused.
#pragma once

#include <optional>
#include <string>

#include "base/units.h"
#include "progress/spectrum/nvml_trace.h"

namespace hypermile {

struct SpectralAnswer {
  std::optional<Seconds> period;
  double iterations = 0;  // iterations in the recording
  double confidence = 0;  // 0..1
  std::string reason;     // why there is no period
};

SpectralAnswer detect_period(const NvmlTrace& trace);

}  // namespace hypermile
