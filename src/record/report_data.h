// SPDX-License-Identifier: Apache-2.0
//
// What the page shows, as JSON; web/src/model.ts names the same keys. Points of series are rounded
// to what a screen can show; figures (figures_json.h) are not. What is not known is absent. The
// report, the live page's server and `report --json` call this.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "record/log_tail.h"

namespace hypermile {

// One run of a log; `id` names it on the live page.
nlohmann::json run_json(const RunDigest& run, const std::string& id, const std::string& file);

// The entry of a run in a list of runs.
nlohmann::json run_line_json(const RunDigest& run, const std::string& id, const std::string& file);

// The document of a report: all runs of a log, and how many lines could not be read.
nlohmann::json report_json(const LogTail& log);

}  // namespace hypermile
