// SPDX-License-Identifier: Apache-2.0
//
// The table that says how well the simulator's form describes every measured workload.
#pragma once

#include <string>

namespace hypermile {

// `folder` holds one folder a set, each with data.csv. Error tables only: no measured row.
std::string form_evidence(const std::string& folder);

}  // namespace hypermile
