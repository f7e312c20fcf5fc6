// SPDX-License-Identifier: Apache-2.0
//
// What the privileged process says to the administrator: one line at a time, with a level that
// systemd's journal and syslog understand. Injected, so that tests hear it.
#pragma once

#include <functional>
#include <string>

namespace hypermile {

enum class LogLevel { kError = 3, kWarning = 4, kNotice = 5, kInfo = 6 };  // syslog's numbers

using Log = std::function<void(LogLevel level, const std::string& line)>;

}  // namespace hypermile
