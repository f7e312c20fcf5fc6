// SPDX-License-Identifier: Apache-2.0
//
// A Predictor as policies ask it: from the Window at the default to what every Setting of their
// list would take and cost (PolicyContext::predict). On a living job the features come with the
// Window; a judge that replays a sweep knows them beforehand.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "policy/policy.h"
#include "predict/predictor.h"

namespace hypermile {

// Answers nothing where fewer features are known than a prediction can rest on.
PredictRatios make_ratio_prediction(std::shared_ptr<const Predictor> predictor, std::string gpu,
                                    const PolicyContext& context,
                                    std::optional<Features> known = std::nullopt);

}  // namespace hypermile
