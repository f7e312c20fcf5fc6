// SPDX-License-Identifier: Apache-2.0
//
// Reads features from the columns of a sweep: `hypermile sweep` writes them under the features' own
// names, and published sweeps have DCGM's profiling fields, nvprof's metrics, or utilisation in
// percent. Each column is mapped to the feature of the same meaning (docs/reference/features.md). A
// feature without a column stays unknown. Called by examples.cpp; nothing here fails.
#pragma once

#include <string>
#include <vector>

#include "measure/features.h"
#include "sweep/sweep_file.h"

namespace hypermile {

// Every column that feeds a feature, for SweepReading::numbers.
std::vector<std::string> feature_columns();

// Features of one row whose numbers were read in the order of feature_columns().
Features features_of_row(const SweepRow& row);

// Means over a job's default rows. A feature is known where any of the rows has it.
Features mean_features(const std::vector<const SweepRow*>& rows);

}  // namespace hypermile
