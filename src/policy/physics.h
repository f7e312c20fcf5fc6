// SPDX-License-Identifier: Apache-2.0
//
// How time and power of a job follow the SM clock, in seven numbers. It is the family of curves
// that the search believes in before it has measured anything; what it misses is left to the
// posterior's discrepancy term. Fitted to measured sweeps it is right within about 0.5 % in time
// and 1 % in power above 0.6 of the default clock.
#pragma once

namespace hypermile {

// Nothing is said of clocks below this share of the default's.
inline constexpr double kLowestClock = 0.2;

struct Physics {
  double fixed_share = 0.3;    // of the time that no clock changes: launches, host, memory latency
  double core_share = 0.5;     // of the rest at the default: bound by the core, not by memory
  double overlap = 2;          // norm in which core and memory time add: 1 in turn, 8 fully hidden
  double knee = 2;             // core slowdown from which memory slows too (its clients starve)
  double static_share = 0.4;   // of the power that the clock does not change
  double voltage_slope = 1;    // of voltage over clock ratio above the voltage floor
  double voltage_floor = 0.7;  // clock ratio below which voltage stays

  // Relative to the default, at the clock ratio `y` (1 is the default; above it counts as 1).
  double time_ratio(double y) const;
  double power_ratio(double y) const;
};

// How a board follows its power limit: it draws the smaller of the limit (times `accuracy`) and
// what the job asks for, with a corner as round as `sharpness` says.
struct LimitResponse {
  double sharpness = 10;
  double accuracy = 1;

  // Power relative to the default under a limit of `limit_ratio` times the default's mean power.
  double power_ratio(double limit_ratio) const;
};

}  // namespace hypermile
