// SPDX-License-Identifier: Apache-2.0
//
// What the privileged process reports to the administrator: single lines, each with a level that
// systemd's journal and syslog understand. The function is injected, so that tests can read the
// lines.
#pragma once

#include <functional>
#include <string>

namespace hypermile {

enum class LogLevel { kError = 3, kWarning = 4, kNotice = 5, kInfo = 6 };  // syslog's numbers

using Log = std::function<void(LogLevel level, const std::string& line)>;

}  // namespace hypermile
