// SPDX-License-Identifier: Apache-2.0
//
// Puts polled sensor values onto an even grid of time. Pure functions.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "progress/spectrum/nvml_trace.h"

namespace hypermile {

struct SampleGrid {
  double begin_s = 0;
  double step_s = 0;
  std::size_t count = 0;
  double time(std::size_t i) const { return begin_s + static_cast<double>(i) * step_s; }
};

// A grid over the whole series at its usual distance, but not finer than `finest_s`. nullopt with
// fewer than four samples.
std::optional<SampleGrid> grid_of(std::span<const TimedValue> series, double finest_s);

// The value in force at each point of the grid; empty for an empty series.
std::vector<double> held(std::span<const TimedValue> series, const SampleGrid& grid);

// How fast a counter grew around each point of the grid, over one step, if it grows evenly between
// two changes. Empty if the counter does not move or goes backwards.
std::vector<double> mean_rate(std::span<const TimedValue> counter, const SampleGrid& grid);

}  // namespace hypermile
