// SPDX-License-Identifier: Apache-2.0
//
// What happens when the privileged process crashes, by a fault of its own or of a library: it
// becomes `hypermiled --recover`, which reads the journals, restores what is changed, and ends.
// Without it a crashed guardian would leave its GPU changed until somebody starts another process.
#pragma once

#include "base/result.h"
#include "lease/daemon/daemon_process.h"
#include "lease/daemon/log.h"

namespace hypermile {

// From now on SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS and SIGTRAP run `hypermiled
// --recover` in the place of this process, also after its stack has overflowed. Call it on the main
// thread.
void recover_after_crashes(const DaemonOptions& options);

// Restores, on every GPU that no living process keeps, what the journals list as changed. It does
// not read the configuration, which may be what crashed its predecessor: journals hold the values
// to restore. kNotReady when a GPU is still changed after this many attempts, 0.3 s apart.
Result<void> recover(const DaemonOptions& options, const Log& log, int attempts = 30);

}  // namespace hypermile
