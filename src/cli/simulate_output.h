// SPDX-License-Identifier: Apache-2.0
//
// What `simulate` and `demo` print of simulated runs, for people and for programs. Every figure
// comes from the runs' event log.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "cli/command.h"
#include "trial/run_report.h"

namespace hypermile {

// One element of "runs": everything that a judged run has; measured time and energy per iteration
// at the default and at the setting kept; the whole job against the default run; and the true best
// setting.
nlohmann::json to_json(const SimulatedOutcome& outcome);

// {"simulated": true, "runs": […], "summary": […]}.
nlohmann::json comparison_json(std::span<const SimulatedOutcome> outcomes);

// One line for each policy on one job, and the true best setting below.
std::string job_table(std::span<const SimulatedOutcome> outcomes);

// For many jobs: one line for each run, then the summary of each policy.
std::string suite_table(std::span<const SimulatedOutcome> outcomes);

// An interrupted command ends with exit code 130, and one line says how many runs were cut off.
void end_interrupted(std::size_t cut_off, CommandContext& context);

}  // namespace hypermile
