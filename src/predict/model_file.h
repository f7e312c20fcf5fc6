// SPDX-License-Identifier: Apache-2.0
//
// A model on disk: one JSON document with version, inputs, relations, bounds, scores, and the name
// and hash of each training file. It holds trees and coefficients, and no measured rows. The file
// is written under another name and renamed, so that a reader never sees half a model. Called by
// `learn`, `predict` and `run`.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "predict/model.h"

namespace hypermile {

inline constexpr int kModelVersion = 4;

std::string model_text(const Model& model);

// Returns kParse, with `name` and the reason, where the text is truncated or not a model, has
// another version, or lists other inputs than this program computes.
Result<Model> parse_model(std::string_view text, const std::string& name);

Result<Model> read_model(const std::string& path);
Result<void> write_model(const Model& model, const std::string& path);

}  // namespace hypermile
