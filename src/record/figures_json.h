// SPDX-License-Identifier: Apache-2.0
//
// Figures as JSON, the same in summaries, in `report --json`, on the page and for Python. Errors
// are half-widths of 95 % intervals; unknown figures are absent.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "record/run_figures.h"

namespace hypermile {

// {"seconds", "joules", "iterations", "saved_j", "saved_wh", "lost_s", "energy_change", …}
nlohmann::json job_json(const JobTotals& job);
// The job's figures and, where energy is known, its bill: kWh, money and CO2e.
nlohmann::json job_json(const RunFigures& figures);
// {"setting", "windows", "time_per_iteration_s", "time_interval95_s", "energy_change", …}
nlohmann::json cost_json(const SettingCost& cost);
// {"process", "phase", "settings", "kept", "kept_each"}
nlohmann::json phase_json(const JobPhase& phase);
// The phases of a run, the one in which most of the time was spent first.
nlohmann::json phases_json(const RunFigures& figures);

}  // namespace hypermile
