// SPDX-License-Identifier: Apache-2.0
//
// Compares the cost model of layers with layers measured on an H200: fitted on one network, tested
// on the other. Called by main.cpp.
#pragma once

#include <string>

namespace hypermile {

// Markdown, from the single layers in the file `layers` and the recorded loops in `folder`. Says so
// where `layers` cannot be read.
std::string cost_model_evidence(const std::string& layers, const std::string& folder);

}  // namespace hypermile
