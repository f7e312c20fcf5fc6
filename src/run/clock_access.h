// SPDX-License-Identifier: Apache-2.0
//
// How a run comes to the right to change clocks: the daemon where one serves, else a guardian of
// its own, as root or through sudo, else not at all. Settled before the job starts, because a
// password may have to be asked for.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "lease/protocol/daemon_connection.h"

namespace hypermile {

struct ClockAccess {
  std::string way;                           // for people
  std::optional<DaemonConnection> guardian;  // one that was started and waits
  std::optional<Error> refused;              // why there is no way
};

// What open_clock_access() would try; starts and asks nothing.
ClockAccess plan_clock_access();

// `may_ask`: sudo may ask for a password on the terminal.
ClockAccess open_clock_access(bool may_ask);

// Somebody sits at the terminal and this process has it.
bool somebody_can_answer();

}  // namespace hypermile
