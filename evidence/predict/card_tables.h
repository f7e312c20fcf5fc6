// SPDX-License-Identifier: Apache-2.0
//
// The tables of cards that the training lacks. Bounds and choices come from cards outside the
// family of the tested card. Fails where a sweep cannot be read or a training fails.
#pragma once

#include <string>

#include "base/result.h"

namespace hypermile {

// Prints how well predictors trained on some cards do on others.
Result<void> cards(const std::string& data);

// Prints kCardPairScales, from all families.
Result<void> scales(const std::string& data);

}  // namespace hypermile
