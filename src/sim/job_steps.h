// SPDX-License-Identifier: Apache-2.0
//
// Decides where a simulated job goes next: which phase, part and micro-batch, and how much work the
// next iteration has. advance() calls it at the end of each unit; it is independent of power.
// Cannot fail.
#pragma once

#include "sim/advance.h"
#include "sim/load.h"
#include "sim/sim_state.h"

namespace hypermile {

// Puts the job at the start of its first iteration. begin_iteration() chooses the unit.
void begin_job(SimGpuState& state, const Load& load, std::uint64_t iterations, double time_s);

// Rate of the current unit at these clocks, computed where the cache is stale.
const PartRate& unit_rate(SimGpuState& state, const GpuConstants& gpu, const Load& load,
                          double sm_mhz, double memory_mhz);

// Whether the parts of an iteration of about this length run one by one: only where a sensor could
// resolve them.
bool runs_by_parts(const Load& load, const PhaseWork& phase, Seconds iteration);

// Called at the start of an iteration. Decides whether its parts run one by one or whole iterations
// run in a block, and draws their amount of work.
void begin_iteration(SimGpuState& state, const GpuConstants& gpu, const Load& load, double sm_mhz,
                     double memory_mhz);

// True if the job must wait for other ranks before its next iteration.
bool at_barrier(const JobPosition& job, const Load& load);

// Ends the current unit at `time_s`, reports it and moves on. True if an iteration has ended, so
// that begin_iteration() is due; the job may then have stopped.
bool finish_unit(SimGpuState& state, const Load& load, double time_s, JobObserver* observer);

}  // namespace hypermile
