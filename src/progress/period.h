// SPDX-License-Identifier: Apache-2.0
//
// Time per iteration from boundaries of one pattern. Hosts run ahead of the GPU by hundreds of
// launches, so means and medians of host intervals are wrong by tens of percent; the Theil-Sen
// slope (median of the slopes of pairs far apart) is not, while the host keeps step most of the
// time. Where it launches in bursts and waits, only the boundaries right after waits are used:
// there host and GPU stand at the same place. Where every boundary carries a GPU time that is used
// alone.
//
// Refuses (kNotReady, with the reason) rather than guess: too few boundaries or waits, mixed
// patterns, or host times that disagree with each other. The remedy is always a longer window.
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
  Seconds span;            // of the window, on the axis that was used
  bool gpu_time = false;   // on the GPU's axis, else on the host's
};

struct PeriodRules {
  std::size_t least_boundaries = 4;
  // Shares of the iterations that were launched at twice the usual speed or more.
  double in_step = 0.1;     // below, every boundary is trusted
  double far_ahead = 0.25;  // from there on, only those after waits are
  // Beyond which host times are refused where the host is not in step:
  double halves_differ = 0.005;   // relative difference between the slopes of the window's halves
  double residual_spread = 0.05;  // spread around the line, as a share of the window
};

// `boundaries` in order of time, of one pattern.
Result<Period> estimate_period(std::span<const Boundary> boundaries, const PeriodRules& rules = {});

}  // namespace hypermile
