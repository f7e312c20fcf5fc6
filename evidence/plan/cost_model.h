// SPDX-License-Identifier: Apache-2.0
//
// The layers' cost model against layers measured on an H200: fitted on one network, judged on the
// other.
#pragma once

#include <string>

namespace hypermile {

// Markdown, from single layers in the file `layers` and recorded loops in `folder`; says so where
// the former cannot be read.
std::string cost_model_evidence(const std::string& layers, const std::string& folder);

}  // namespace hypermile
