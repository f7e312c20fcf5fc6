// SPDX-License-Identifier: Apache-2.0
//
// The log function of the real process; tests inject their own.
#pragma once

#include "lease/daemon/log.h"

namespace hypermile {

// Writes the daemon's lines to stderr, preceded by the level for systemd's journal. A guardian
// writes to syslog, because it outlives its owner's terminal and must not hold its pipe open. Safe
// from any thread.
Log system_log(bool guardian);

}  // namespace hypermile
