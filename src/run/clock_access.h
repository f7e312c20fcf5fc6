// SPDX-License-Identifier: Apache-2.0
//
// How a run gets the right to change clocks: from the daemon where one serves, else from a guardian
// that it starts, as root or through sudo, else not at all. Decided before the job starts, because
// sudo may ask for a password.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "lease/protocol/daemon_connection.h"

namespace hypermile {

struct ClockAccess {
  std::string way;                           // in words, for --dry-run
  std::optional<DaemonConnection> guardian;  // a guardian that was started and waits
  std::optional<Error> refused;              // why clocks cannot be changed
};

// What open_clock_access() would do; starts no guardian and asks for no password.
ClockAccess plan_clock_access();

// `may_ask`: sudo may ask for a password on the terminal.
ClockAccess open_clock_access(bool may_ask);

// Whether this process is in the foreground of a terminal, where somebody can type a password.
bool somebody_can_answer();

}  // namespace hypermile
