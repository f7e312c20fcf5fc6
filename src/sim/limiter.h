// SPDX-License-Identifier: Apache-2.0
//
// Heat and the limiter of a simulated card: every period the die's temperature is renewed and the
// SM clock trimmed or released by steps, to hold the averaged power below the limit.
#pragma once

#include "sim/gpu_physics.h"
#include "sim/sim_state.h"

namespace hypermile {

// What the SM clock would be without power or heat in the way: the lock, or the boost clock.
double sm_ceiling(const SimGpuState& state, const GpuPhysics& gpu);
// With the limiter's trim, on the list of clocks.
double sm_in_force(const SimGpuState& state, const GpuPhysics& gpu);
double limit_in_force(const SimGpuState& state, const GpuPhysics& gpu);

// The power that the limiter believes in follows the true one; called before a segment ends.
void limiter_sees(SimGpuState& state, const GpuPhysics& gpu, double span_s);
// At limiter.next_s. True if the SM clock changes.
bool limiter_decides(SimGpuState& state, const GpuPhysics& gpu);
// A new ceiling was asked for: the clock stays where power or heat hold it.
void limiter_keeps_clock(SimGpuState& state, double old_ceiling, double new_ceiling);

}  // namespace hypermile
