// SPDX-License-Identifier: Apache-2.0
//
// The true behaviour of a simulated job, used to judge policies and never shown to them: time and
// power per training iteration in the steady state, without noise, from the same physics in closed
// form. Occasional phases count by their share. Cannot fail.
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
  Mhz sm_clock;  // reported clock, time-weighted mean; below the ceiling where the limiter acts
  bool capped = false;  // the power limit binds in some part
  Celsius die;
  Joules energy() const { return power * time; }
};

// The sheet must allow `setting`; knobs that it does not name have the driver's default. `card`
// defaults to a typical card of the sheet.
SteadyState steady_state(const GpuConstants& gpu, const Load& load, const Setting& setting,
                         const CardTraits& card = {}, const Effects& effects = {});

// steady_state() at the default and at every Setting of the grid that the Curve's rules allow.
// Empty `knobs` means SM clocks alone.
Curve true_curve(const GpuSheet& sheet, const Workload& workload, const std::vector<Knob>& knobs,
                 const CardTraits& card = {}, const Effects& effects = {});

}  // namespace hypermile
