// SPDX-License-Identifier: Apache-2.0
//
// NVML's power and utilisation on an even grid of time, while one Setting was in force: what GPOEO
// decides from. A Controller records one where a Step asks for it (Step::trace_for). A plain value.
#pragma once

#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/units.h"

namespace hypermile {

inline constexpr Seconds kTraceStep = milliseconds(100);  // as GPOEO samples

struct SensorTrace {
  Instant begin;                    // of the first sample; the next follow every kTraceStep
  std::vector<double> power_w;      // these three are equally long
  std::vector<double> gpu_percent;  // 0 where the card does not tell
  std::vector<double> memory_percent;
  std::optional<Watts> power_limit;  // the one in force

  std::size_t size() const { return power_w.size(); }
};

}  // namespace hypermile
