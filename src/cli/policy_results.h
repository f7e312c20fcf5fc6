// SPDX-License-Identifier: Apache-2.0
//
// Results of judged policies for programs and for people, the same for replayed and simulated jobs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "trial/judge/replay.h"
#include "trial/judge/summary.h"

namespace hypermile {

// One element of the contract's "runs" and "summary".
nlohmann::json to_json(const RunResult& run);
nlohmann::json to_json(const PolicySummary& summary);

// One line a policy under a head, as Markdown.
std::string policy_table_text(std::span<const PolicySummary> summaries);

}  // namespace hypermile
