// SPDX-License-Identifier: Apache-2.0
//
// The layers' cost model against layers measured on an H200: fitted on one network, judged on the
// other.
#pragma once

#include <string>

namespace hypermile {

// Markdown; says so where `folder` has no layers.csv.
std::string cost_model_evidence(const std::string& folder);

}  // namespace hypermile
