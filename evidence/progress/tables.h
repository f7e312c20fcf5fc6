// SPDX-License-Identifier: Apache-2.0
//
// The tables of docs/evidence/iterations.md, as Markdown.
#pragma once

#include <string>
#include <vector>

#include "evidence/progress/labelled_stream.h"

namespace hypermile {

// Of recordings, from so many random starts each: time to lock, counts, levels.
std::string lock_table(const std::vector<LabelledStream>& recordings, std::size_t starts);
// Period from host times over windows, against the GPU's over the same.
std::string period_table(const std::vector<LabelledStream>& recordings);
// Edits of some of the recordings.
std::string stress_table(const std::vector<LabelledStream>& recordings, std::size_t seeds);
std::string accumulation_table(const std::vector<LabelledStream>& recordings, std::size_t seeds);
std::string phase_table(const std::vector<LabelledStream>& recordings);
// Streams that nobody recorded.
std::string aperiodic_table(std::size_t seeds);
std::string made_table(std::size_t starts);

// The q-quantile of what may be unsorted; nan when empty.
double quantile(std::vector<double> values, double q);

}  // namespace hypermile
