// SPDX-License-Identifier: Apache-2.0
//
// Features from the columns of a sweep: those that `hypermile sweep` writes under the features' own
// names, DCGM's profiling fields, nvprof's metrics, and utilisation in percent, each mapped onto
// the feature that means the same (docs/reference/features.md). Columns that are absent leave
// features missing.
#pragma once

#include <string>
#include <vector>

#include "measure/features.h"
#include "sweep/sweep_file.h"

namespace hypermile {

// Every column that says something of a feature, for SweepReading::numbers.
std::vector<std::string> feature_columns();

// Features of one row, whose numbers were read as feature_columns() lists them.
Features features_of_row(const SweepRow& row);

// Means over rows (a job's default rows); a feature is known where any row knows it.
Features mean_features(const std::vector<const SweepRow*>& rows);

}  // namespace hypermile
