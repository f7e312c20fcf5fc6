// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lease/daemon/log.h"

namespace hypermile {

// The daemon's lines go to stderr, with the level in front that systemd's journal reads. A
// guardian's go to syslog: it outlives its owner's terminal, and must not hold its pipe open. Safe
// from any thread.
Log system_log(bool guardian);

}  // namespace hypermile
