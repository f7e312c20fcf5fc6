// SPDX-License-Identifier: Apache-2.0
//
// The registers of a simulated card: they change only now and then, cover only part of the time
// between, and are off by a gain and an offset. Called by advance() when a refresh is due.
#pragma once

#include "sim/gpu_physics.h"
#include "sim/sim_state.h"

namespace hypermile {

// Refresh times start anywhere in their periods.
void begin_sensors(SimGpuState& state, const GpuPhysics& gpu);

// When the next register changes or window opens.
double next_sensor_event(const SensorState& sensors);

// Does whatever is due at segment.start_s.
void refresh_sensors(SimGpuState& state, const GpuPhysics& gpu);

}  // namespace hypermile
