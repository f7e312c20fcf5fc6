// SPDX-License-Identifier: Apache-2.0
//
// The registers of a simulated card: they change only at intervals, cover only part of the time
// between, and are off by a gain and an offset. Called by advance() when a refresh is due; cannot
// fail.
#pragma once

#include "sim/gpu_constants.h"
#include "sim/sim_state.h"

namespace hypermile {

// Draws the offset of each refresh within its period.
void begin_sensors(SimGpuState& state, const GpuConstants& gpu);

// When the next register changes or the next power window opens.
double next_sensor_event(const SensorState& sensors);

// Carries out the refreshes that are due at segment.start_s.
void refresh_sensors(SimGpuState& state, const GpuConstants& gpu);

}  // namespace hypermile
