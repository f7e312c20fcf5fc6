// SPDX-License-Identifier: Apache-2.0
//
// Makes the tables of docs/evidence/iterations.md, as Markdown.
#pragma once

#include <string>
#include <vector>

#include "evidence/progress/labelled_stream.h"

namespace hypermile {

// Time to lock, counts and levels of recordings, from `starts` random starts each.
std::string lock_table(const std::vector<LabelledStream>& recordings, std::size_t starts);
// What `detect` counts in every recording of a folder, against the true number.
std::string count_table(const std::string& folder);
// The period from host times over windows, compared with the GPU's over the same windows.
std::string period_table(const std::vector<LabelledStream>& recordings);
// Results on edited recordings.
std::string stress_table(const std::vector<LabelledStream>& recordings, std::size_t seeds);
std::string accumulation_table(const std::vector<LabelledStream>& recordings, std::size_t seeds);
std::string phase_table(const std::vector<LabelledStream>& recordings);
// Results on synthetic streams.
std::string aperiodic_table(std::size_t seeds);
std::string made_table(std::size_t starts);

// The q-quantile of unsorted values; NaN if there are none.
double quantile(std::vector<double> values, double q);

}  // namespace hypermile
