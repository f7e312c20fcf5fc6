// SPDX-License-Identifier: Apache-2.0
//
// The physics in closed form: how long a part of a job takes at given clocks, and the board's power
// meanwhile. The simulation in time and steady_state.h both use it, so that they agree. Pure
// functions that cannot fail.
#pragma once

#include "sim/gpu_constants.h"
#include "sim/sim_state.h"

namespace hypermile {

// Relative core voltage: 1 up to the knee, then linear.
double voltage(const PowerModel& power, double sm_mhz);

// Share of the copy bandwidth that the SMs can use at this clock.
double bandwidth_share(const Rates& rates, double sm_mhz);

// Leakage in watts at v = 1 and this temperature.
double leakage_watts(const PowerModel& power, const CardTraits& card, double die_c);

// `sm_mhz` is the reported clock; where the board's fast brake acts (and `stretching` is not 0),
// the part runs at a lower one.
PartRate part_rate(const GpuConstants& gpu, const CardTraits& card, const PartWork& part,
                   double sm_mhz, double memory_mhz, double leakage_w, double stretching);

// A whole iteration of a phase as if it were one part: same time, energy and mean shares.
struct WeightedRate {
  PartRate rate;
  double runs = 1;
};
PartRate blend(const WeightedRate* rates, std::size_t count);

// Mean power over one run of a part with this work factor.
double mean_power(const PartRate& rate, double factor, double leakage_w);

}  // namespace hypermile
