// SPDX-License-Identifier: Apache-2.0
//
// How often sensors are read beside a living job for hours, where what reading costs the host
// counts as much as what it tells. `run` and `attach` use it, and the evidence on Windows is made
// with it.
#pragma once

#include "measure/sampler.h"

namespace hypermile {

inline SamplerOptions beside_a_job() {
  SamplerOptions options;
  // No multiple of the counter's 100 ms, so that polls do not keep falling onto its steps.
  options.calm_period = milliseconds(120);
  options.counter_period = Seconds(3);
  // A drain costs the driver as much as a fifth of a read of the counter; an H200 keeps 2.4 s.
  options.drain_period = Seconds(1.5);
  return options;
}

}  // namespace hypermile
