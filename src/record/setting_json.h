// SPDX-License-Identifier: Apache-2.0
//
// A setting as JSON and back, for the event log, summaries and the page: any of "sm_mhz", "mem_mhz"
// and "power_limit_w"; {} is the driver's default.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "gpu/setting.h"

namespace hypermile {

nlohmann::json setting_json(const Setting& setting);
// Throws the JSON library's exceptions where a value is not a number.
Setting setting_from(const nlohmann::json& j);

}  // namespace hypermile
