// SPDX-License-Identifier: Apache-2.0
//
// Tells from probes whether the job itself has become slower or faster since the default was last
// measured. No clock can make every probe slower, or any probe faster than the default; results
// like these mean that the job has changed. slice_search calls it before it believes its probes.
#pragma once

#include "policy/observations.h"
#include "policy/slice.h"

namespace hypermile {

// By the last probe and those before it, back to the default. Of SM clocks at the default's memory
// clock; false for other slices, where the level is not known.
bool default_has_moved(const Slice& slice, const Observations& seen, const Noise& noise);

}  // namespace hypermile
