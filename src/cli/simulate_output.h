// SPDX-License-Identifier: Apache-2.0
//
// Simulated runs for people and for programs. Every figure comes from their event log.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "trial/run_report.h"

namespace hypermile {

// One element of "runs": what a judged run has, and the measured time and energy per iteration
// before and after, the whole job's against the default run's, and the true best Setting.
nlohmann::json to_json(const SimulatedOutcome& outcome);

// {"simulated": true, "runs": […], "summary": […]}.
nlohmann::json comparison_json(std::span<const SimulatedOutcome> outcomes);

// The policies on one job, one line each, and the true best below.
std::string job_table(std::span<const SimulatedOutcome> outcomes);

// For many jobs: one line a run, then the summary of each policy.
std::string suite_table(std::span<const SimulatedOutcome> outcomes);

}  // namespace hypermile
