// SPDX-License-Identifier: Apache-2.0
//
// A log's Settings side by side, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "record/setting_summary.h"

namespace hypermile {

std::string summary_table(const std::vector<SettingSummary>& summaries);
nlohmann::json summary_json(const std::vector<SettingSummary>& summaries);

}  // namespace hypermile
