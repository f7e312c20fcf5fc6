// SPDX-License-Identifier: Apache-2.0
//
// Makes the table that shows how well the simulator's formula fits every measured workload.
#pragma once

#include <string>

namespace hypermile {

// `folder` contains one folder per set, each with data.csv. The table has errors only, no measured
// rows.
std::string form_evidence(const std::string& folder);

}  // namespace hypermile
