// SPDX-License-Identifier: Apache-2.0
//
// Polled sensors on an even grid of time.
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

// Over the whole series, at its usual distance but not below `finest_s`. nullopt with fewer than
// four samples.
std::optional<SampleGrid> grid_of(std::span<const TimedValue> series, double finest_s);

// The value that held at each point of the grid; empty for an empty series.
std::vector<double> held(std::span<const TimedValue> series, const SampleGrid& grid);

// How fast a counter grew around each point of the grid, over one step. The counter is taken to
// grow evenly between two changes. Empty where it does not move or goes back.
std::vector<double> mean_rate(std::span<const TimedValue> counter, const SampleGrid& grid);

}  // namespace hypermile
