// SPDX-License-Identifier: Apache-2.0
//
// Estimates the time per iteration from boundaries of one pattern. Hosts run ahead of the GPU by
// hundreds of launches, so means and medians of host intervals are wrong by tens of percent. The
// Theil-Sen slope (the median slope of pairs far apart) is right as long as the host mostly keeps
// pace. If the host launches in bursts and waits, only boundaries right after waits are used, where
// host and GPU are at the same place. If all boundaries have a GPU time, only GPU times are used.
//
// Refuses with kNotReady and a reason rather than guess: too few boundaries or waits, mixed
// patterns, or inconsistent host times. The remedy is always a longer window.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "base/units.h"
#include "progress/boundary.h"

namespace hypermile {

struct Period {
  Seconds per_iteration;
  Seconds standard_error;  // of per_iteration, from the spread between parts of the window
  double iterations = 0;   // in the window
  Seconds span;            // length of the window on the axis that was used
  bool gpu_time = false;   // true for the GPU's axis, false for the host's
};

struct PeriodRules {
  std::size_t least_boundaries = 4;
  // Shares of the iterations that were launched at twice the usual speed or faster.
  double keeps_pace = 0.1;  // below this share, every boundary is trusted
  double far_ahead = 0.25;  // from this share on, only boundaries after waits are trusted
  // Limits on host times, used when the host does not keep pace.
  double halves_differ = 0.005;   // relative difference between the slopes of the window's halves
  double residual_spread = 0.05;  // spread around the line, as a share of the window
};

// `boundaries` must belong to one pattern and be in order of time.
Result<Period> estimate_period(std::span<const Boundary> boundaries, const PeriodRules& rules = {});

}  // namespace hypermile
