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

// Markdown: layers of whole networks that profile_layers() measured, against the model, by class.
// `folder` has NETWORK-PRECISION.csv and .json; the model's constants are fitted to the layers in
// the file `fitted_to`.
std::string measured_networks_evidence(const std::string& folder, const std::string& fitted_to);

// Markdown: operations that export_layers() counts and PyTorch's own counter, from
// benchmarks/h200/measure_layers.py.
std::string flops_evidence(const std::string& file);

}  // namespace hypermile
