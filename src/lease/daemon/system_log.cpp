// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/system_log.h"

#include <fmt/format.h>
#include <syslog.h>
#include <unistd.h>

#include <cstdlib>

namespace hypermile {

Log system_log(bool guardian) {
  if (guardian) {
    ::openlog("hypermile-guardian", LOG_PID, LOG_DAEMON);
    return [](LogLevel level, const std::string& line) {
      ::syslog(static_cast<int>(level), "%s", line.c_str());
    };
  }
  const bool journal = std::getenv("JOURNAL_STREAM") != nullptr;
  return [journal](LogLevel level, const std::string& line) {
    // One write per line, so that lines of several threads do not mix.
    const std::string text =
        fmt::format("{}hypermiled: {}\n",
                    journal ? fmt::format("<{}>", static_cast<int>(level)) : std::string(), line);
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  };
}

}  // namespace hypermile
