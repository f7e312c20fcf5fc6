// SPDX-License-Identifier: Apache-2.0
//
// The table of a sweep (docs/reference/sweep-file.md), made from its journal alone, so that equal
// entries give equal text. To take out drift, each window is divided by the default that was
// measured around it in the same run of the job, and written as that ratio times the mean of all
// defaults.
#pragma once

#include <span>
#include <string>

#include "base/files.h"
#include "base/result.h"
#include "trial/sweeping/sweep_plan.h"

namespace hypermile {

// The default's row comes first, then the settings in descending order. The row of a setting that
// was given up has the reason in place of time and power. Empty until the default and another
// setting are measured.
std::string sweep_csv(const SweepHeader& header, std::span<const SweepEntry> entries);

// Replaces the file at `path` at one instant.
Result<void> write_sweep_csv(Files& files, const std::string& path, const std::string& text);

}  // namespace hypermile
