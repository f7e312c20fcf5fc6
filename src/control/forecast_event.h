// SPDX-License-Identifier: Apache-2.0
//
// What a policy expected when it decided, as an event: so that a report can hold it against what
// was measured. Written where a search begins and where another Setting is held, not at every Step.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "policy/policy.h"
#include "record/event.h"

namespace hypermile {

// nullopt where the policy expects nothing in particular.
std::optional<Forecast> forecast_of(const Policy& policy, std::span<const Setting> settings,
                                    std::string_view name, bool exploring);

}  // namespace hypermile
