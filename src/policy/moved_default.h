// SPDX-License-Identifier: Apache-2.0
//
// Tells from probes whether the job itself has become slower or faster since the default was last
// measured. A lower clock never makes a job faster, and never slows it by more than the clock
// falls. Probes that contradict this mean that the job has changed. slice_search calls this before
// it believes its probes. It is pure and cannot fail.
#pragma once

#include "policy/observations.h"
#include "policy/slice.h"

namespace hypermile {

// By the last probe and those before it, back to the default. Of SM clocks at the default's memory
// clock; false for other slices, where the level is not known.
bool default_has_moved(const Slice& slice, const Observations& seen, const Noise& noise);

}  // namespace hypermile
