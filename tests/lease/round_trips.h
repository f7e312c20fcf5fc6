// SPDX-License-Identifier: Apache-2.0
//
// Measures how long the daemon takes to answer, next to a bare socket on the same machine at the
// same time.
#pragma once

#include "base/identifiers.h"

namespace hypermile {

// Prints the times. False if the 99th percentile of acquiring a free GPU is more than `most` times
// that of a bare round trip.
bool report_round_trips(const GpuUuid& gpu, double most);

}  // namespace hypermile
