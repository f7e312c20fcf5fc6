// SPDX-License-Identifier: Apache-2.0
//
// Fits the members of a model, each to examples of its own, on all cores. What they have not seen
// is the business of train.cpp, which calibrates.
#pragma once

#include <functional>
#include <span>

#include "predict/train.h"

namespace hypermile {

// A model whose member k was trained on the examples that `taken(k, i)` accepts, with `whole` more
// that were trained on all; nothing is calibrated.
Result<Model> fit_model(std::span<const Example> examples, const TrainingOptions& options,
                        std::size_t members, std::size_t whole,
                        const std::function<bool(std::size_t, std::size_t)>& taken);

}  // namespace hypermile
