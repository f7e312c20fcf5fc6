// SPDX-License-Identifier: Apache-2.0
//
// A model as the Controller asks it: for the card of a phase and the settings of its policy. `run`,
// `attach` and `simulate` use it. Fails as read_model() does.
#pragma once

#include <string>

#include "base/result.h"
#include "control/controller_options.h"

namespace hypermile {

Result<PredictForPhase> predict_by_model(const std::string& path);

}  // namespace hypermile
