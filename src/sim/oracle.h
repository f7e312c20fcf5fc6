// SPDX-License-Identifier: Apache-2.0
//
// The truth about a simulated job, for judges only: time and power per training iteration in the
// steady state, without noise, from the same physics in closed form. Phases that run now and then
// are counted in by their share.
#pragma once

#include <vector>

#include "sim/gpu_sheet.h"
#include "sim/sim_state.h"
#include "sim/workload.h"
#include "sweep/curve.h"

namespace hypermile {

struct SteadyState {
  Seconds time;  // per training iteration
  Watts power;   // mean
  Mhz sm_clock;  // reported, time-weighted mean; below the ceiling where the limiter holds it
  bool capped = false;  // the power limit binds in some part
  Celsius die;
  Joules energy() const { return power * time; }
};

// `setting` must be one the sheet allows; what it leaves open is the driver's default. `card`
// defaults to the sheet's typical card.
SteadyState steady_state(const GpuPhysics& gpu, const Load& load, const Setting& setting,
                         const CardTraits& card = {}, const Effects& effects = {});

// steady_state() at the default and at every Setting of the grid that the Curve's rules allow.
// `knobs` empty: SM clocks alone.
Curve true_curve(const GpuSheet& sheet, const Workload& workload, const std::vector<Knob>& knobs,
                 const CardTraits& card = {}, const Effects& effects = {});

}  // namespace hypermile
