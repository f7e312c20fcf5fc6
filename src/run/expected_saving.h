// SPDX-License-Identifier: Apache-2.0
//
// What a job could have saved whose clocks never moved, from what was seen at the default.
#pragma once

#include <optional>

#include "control/controller_options.h"
#include "control/session.h"
#include "policy/expectation.h"

namespace hypermile {

// nullopt where power or clock were not seen, or where the card's clocks cannot be changed.
std::optional<Expectation> expected_saving(const Session& session, const RunSummary& summary,
                                           const ControllerOptions& options);

}  // namespace hypermile
