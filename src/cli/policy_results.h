// SPDX-License-Identifier: Apache-2.0
//
// Results of judged policies for programs and for people. `evaluate` and `simulate` print them
// alike.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "trial/judge/replay.h"
#include "trial/judge/summary.h"

namespace hypermile {

// One element of "runs" and of "summary".
nlohmann::json to_json(const RunResult& run);
nlohmann::json to_json(const PolicySummary& summary);

// A table of 80 columns with one line for each policy.
std::string policy_table_text(std::span<const PolicySummary> summaries);

}  // namespace hypermile
