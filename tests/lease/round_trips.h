// SPDX-License-Identifier: Apache-2.0
//
// How long the daemon takes to answer, measured beside a bare socket on the same machine at the
// same time.
#pragma once

#include "base/identifiers.h"

namespace hypermile {

// Prints the figures. False when an acquire's 99th percentile, of a GPU that is free, is more than
// `most` times that of a bare round trip.
bool report_round_trips(const GpuUuid& gpu, double most);

}  // namespace hypermile
