// SPDX-License-Identifier: Apache-2.0
//
// The table of a sweep (docs/reference/sweep-file.md), made from its journal alone: the same
// entries, the same text. Drift is taken out: each Window is set against the default measured
// around it in the same run of the job, and written as that ratio times the mean of all defaults.
#pragma once

#include <span>
#include <string>

#include "base/files.h"
#include "base/result.h"
#include "trial/sweeping/sweep_plan.h"

namespace hypermile {

// The default's row first, then the Settings in descending order. One that was given up has no time
// and power, and the reason instead. Empty before the default and another Setting were measured.
std::string sweep_csv(const SweepHeader& header, std::span<const SweepEntry> entries);

// Replaces the file at `path` at one instant.
Result<void> write_sweep_csv(Files& files, const std::string& path, const std::string& text);

}  // namespace hypermile
