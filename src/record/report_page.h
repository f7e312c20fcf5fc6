// SPDX-License-Identifier: Apache-2.0
//
// The page that shows runs: one file with everything in it, offline, made from web/ when hypermile
// was built. As a report it carries its data; as the live page it asks its server for them.
#pragma once

#include <string>

#include "base/result.h"
#include "record/log_tail.h"

namespace hypermile {

// The whole page with the log's runs in it. kUnsupported where hypermile was built without the
// page.
Result<std::string> report_page(const LogTail& log);

// The page without data, for a server.
Result<std::string> live_page();

// Reads `log` and writes its report to `path`, all or nothing.
Result<void> write_report(const LogTail& log, const std::string& path);

}  // namespace hypermile
