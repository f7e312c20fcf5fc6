// SPDX-License-Identifier: Apache-2.0
//
// The table of a sweep (docs/reference/sweep-file.md), made from its journal alone, so that the
// same entries give the same text. To remove drift, each window is divided by the default measured
// around it in the same run of the job, and multiplied by the mean of all defaults. Called after
// each window.
#pragma once

#include <span>
#include <string>

#include "trial/sweeping/sweep_order.h"

namespace hypermile {

// The default's row is first, the other settings follow in descending order. A window that was
// given up has a reason instead of time and power. Empty until the default and another setting are
// measured.
std::string sweep_csv(const SweepHeader& header, std::span<const SweepEntry> entries);

}  // namespace hypermile
