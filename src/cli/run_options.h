// SPDX-License-Identifier: Apache-2.0
//
// From the options of run, attach and sweep to the values that src/run takes. What makes no sense
// is kUsage and names the option, so that it is said before a job starts.
#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "run/run_request.h"

namespace hypermile {

// --price and --carbon.
Result<Tariff> read_tariff(const OptionValues& values);

// Everything that run and attach share; `typed` and `nvtx_step` are left to the caller.
Result<RunRequest> read_run_request(const OptionValues& values);

// Log, page and --quiet, which sweep has as well.
ReportRequest read_report_request(const OptionValues& values);

// nullopt where the option was not given.
std::optional<std::string> text_if_given(const OptionValues& values, std::string_view name);

RunWorld world_of(CommandContext& context);

}  // namespace hypermile
