// SPDX-License-Identifier: Apache-2.0
//
// Where a simulated job goes next: which phase, part and micro-batch, and how much work the next
// iteration has. Called by advance() at the ends of units; knows nothing of power.
#pragma once

#include "sim/advance.h"
#include "sim/load.h"
#include "sim/sim_state.h"

namespace hypermile {

// Puts the job at the start of its first iteration. The unit is chosen by begin_unit().
void begin_job(SimGpuState& state, const Load& load, std::uint64_t iterations, double time_s);

// Rate of the unit in hand at the clocks of the cache, filling the cache where it is stale.
const PartRate& unit_rate(SimGpuState& state, const GpuPhysics& gpu, const Load& load,
                          double sm_mhz, double memory_mhz);

// Decides, at the start of an iteration, whether its parts are stepped through one by one or whole
// iterations in a block, and draws how much work they have.
void begin_iteration(SimGpuState& state, const GpuPhysics& gpu, const Load& load, double sm_mhz,
                     double memory_mhz);

// Whether the job must wait for other ranks before its next iteration.
bool at_barrier(const JobPosition& job, const Load& load);

// The unit in hand is over at `time_s`: reports it and moves on. True if an iteration has ended, so
// that begin_iteration() is due; the job may then have stopped running.
bool finish_unit(SimGpuState& state, const Load& load, double time_s, JobObserver* observer);

}  // namespace hypermile
