// SPDX-License-Identifier: Apache-2.0
//
// Heat and power limiter of a simulated card: at every period they update the die's temperature and
// trim or release the SM clock in steps, to keep average power below the limit. Called by
// advance(); cannot fail.
#pragma once

#include "sim/gpu_constants.h"
#include "sim/sim_state.h"

namespace hypermile {

// SM clock without limits of power or heat: the lock, or the boost clock.
double sm_ceiling(const SimGpuState& state, const GpuConstants& gpu);
// SM clock with the limiter's trim, on the list of clocks.
double sm_in_force(const SimGpuState& state, const GpuConstants& gpu);
double limit_in_force(const SimGpuState& state, const GpuConstants& gpu);

// Steps by which the limiter lowers a clock (negative: raises it) after an averaging period that
// used `seen` watts, where it takes the power for `judged`.
double limiter_steps(const GpuConstants& gpu, double clock, Watts limit, Watts seen, Watts judged);

// Updates the limiter's power average; called before a segment ends.
void limiter_sees(SimGpuState& state, const GpuConstants& gpu, double span_s);
// Runs one decision, at limiter.next_s. True if the SM clock changes.
bool limiter_decides(SimGpuState& state, const GpuConstants& gpu);
// A new ceiling was requested: the clock stays where power or heat hold it.
void limiter_keeps_clock(SimGpuState& state, double old_ceiling, double new_ceiling);

}  // namespace hypermile
