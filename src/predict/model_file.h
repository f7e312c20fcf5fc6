// SPDX-License-Identifier: Apache-2.0
//
// A model on disk: one JSON document with version, inputs, relations, bounds, scores, and the
// training sets by name and hash. It holds trees and coefficients, no measured row. Written to a
// file beside it and renamed, so that a reader never sees half a model.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "predict/model.h"

namespace hypermile {

inline constexpr int kModelVersion = 3;

std::string model_text(const Model& model);

// kParse, with `name` and the reason, for text that is truncated or no model, for another version
// and for other inputs than this program computes.
Result<Model> parse_model(std::string_view text, const std::string& name);

Result<Model> read_model(const std::string& path);
Result<void> write_model(const Model& model, const std::string& path);

}  // namespace hypermile
