// SPDX-License-Identifier: Apache-2.0
//
// What the page shows, as JSON: web/src/model.ts names the same keys. Numbers are rounded to what a
// screen can show; what is not known is absent.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "record/log_tail.h"

namespace hypermile {

// One run of a log; `id` names it on the live page.
nlohmann::json run_json(const RunDigest& run, const std::string& id, const std::string& file);

// The line of a run in a list of them.
nlohmann::json run_line_json(const RunDigest& run, const std::string& id, const std::string& file);

// A report's document: all runs of a log, and what could not be read of it.
nlohmann::json report_json(const LogTail& log);

}  // namespace hypermile
