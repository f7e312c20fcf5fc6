// SPDX-License-Identifier: Apache-2.0
//
// What `history` and `compare` share: the history that the options name, and a run of it.
#pragma once

#include <string>

#include "cli/options.h"
#include "record/history.h"

namespace hypermile {

Result<History> open_history(const OptionValues& options);

// By its number in the list, by its id, or the last run of an event log that is named. kNotFound.
Result<RememberedRun> find_run(const std::string& name, const History& history);

// "2026-11-18 08:30", local time.
std::string when(double unix_time);

}  // namespace hypermile
