// SPDX-License-Identifier: Apache-2.0
//
// How often to read sensors beside a real job that runs for hours, where the cost of reading
// matters as much as its precision. `run` and `attach` use these options, and so does the evidence
// about Windows.
#pragma once

#include "measure/sampler.h"

namespace hypermile {

inline SamplerOptions beside_a_job() {
  SamplerOptions options;
  // Not a multiple of the counter's 100 ms, so that polls do not keep coinciding with its steps.
  options.calm_period = milliseconds(120);
  options.counter_period = Seconds(3);
  // A drain costs the driver a fifth of a counter read; an H200 buffers 2.4 s of power samples.
  options.drain_period = Seconds(1.5);
  return options;
}

}  // namespace hypermile
