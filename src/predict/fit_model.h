// SPDX-License-Identifier: Apache-2.0
//
// Fits the members of a model on all cores, each member to its own part of the examples. Called by
// train.cpp, which then calibrates the model on the parts that members have not seen. Fails where
// XGBoost fails.
#pragma once

#include <functional>
#include <span>

#include "predict/train.h"

namespace hypermile {

// Member k is trained on the examples for which `taken(k, i)` is true; `whole` further members are
// trained on all examples. The result is not calibrated.
Result<Model> fit_model(std::span<const Example> examples, const TrainingOptions& options,
                        std::size_t members, std::size_t whole,
                        const std::function<bool(std::size_t, std::size_t)>& taken);

// Model::elsewhere for trees of one family of cards, which do not know how features differ between
// families. There, linear forms err less about energy at clocks on other cards. Under limits, no
// models of one family were compared. Empty for all other models.
Result<std::vector<Relation>> fit_elsewhere(
    std::span<const Example> examples, TrainingOptions options, std::size_t members,
    const std::function<bool(std::size_t, std::size_t)>& taken);

}  // namespace hypermile
