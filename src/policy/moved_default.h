// SPDX-License-Identifier: Apache-2.0
//
// Whether probes say, by what no clock can do, that the job itself has become slower or faster
// since the default was last measured: in a slow minute everything that is probed looks too slow,
// and behind one in which the default was measured all looks better than it is. Asked by
// slice_search before it believes its probes.
#pragma once

#include "policy/observations.h"
#include "policy/slice.h"

namespace hypermile {

// By the last probe and those before it, back to the default. Of SM clocks at the default's memory
// clock; false for other slices, where the level is not known.
bool default_has_moved(const Slice& slice, const Observations& seen, const Noise& noise);

}  // namespace hypermile
