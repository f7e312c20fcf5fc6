// SPDX-License-Identifier: Apache-2.0
//
// Adapts a Predictor to PolicyContext::predict: from the window at the default setting to the log
// ratios of time and energy at every setting of the policy. The features come with the window; a
// judge that replays a sweep passes them as `known`.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "policy/policy.h"
#include "predict/predictor.h"

namespace hypermile {

// The result is empty where the window has no power or fewer than three features are known.
PredictRatios make_ratio_prediction(std::shared_ptr<const Predictor> predictor, std::string gpu,
                                    const PolicyContext& context,
                                    std::optional<Features> known = std::nullopt);

}  // namespace hypermile
