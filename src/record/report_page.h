// SPDX-License-Identifier: Apache-2.0
//
// The page that shows runs: one file that needs no network, made from web/ when hypermile is built.
// A report carries its data; the live page fetches them from its server.
#pragma once

#include <string>

#include "base/result.h"
#include "record/log_tail.h"

namespace hypermile {

// The whole page with the runs of the log. kUnsupported where hypermile was built without the page.
Result<std::string> report_page(const LogTail& log);

// The page without data, for a server.
Result<std::string> live_page();

// Writes the report of `log` to `path`. After an error an earlier file at `path` is unchanged.
Result<void> write_report(const LogTail& log, const std::string& path);

}  // namespace hypermile
