// SPDX-License-Identifier: Apache-2.0
//
// The first thing that the privileged process does: it takes nothing over from whoever started it.
// A user who may start a guardian through sudo chooses its resource limits, priority, signal
// dispositions, timers, folder, file mask, open files and, where sudo allows it, environment. Each
// of them could end or hinder the process while a GPU is changed. daemon_main() calls this before
// any thread or GPU exists.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hypermile {

// Resets everything that the process has inherited, in one sequence. kPermission when a limit is
// too low to restore a GPU under and the kernel does not let this process raise it: then the
// process must not start. kIo when /dev/null cannot be opened. With `deaf`, every signal stays
// blocked, so that nothing but SIGKILL and a fault of its own ends a process that recovers.
Result<void> reset_inherited(bool deaf = false);

// The steps that can be tested alone.
//
// Raises every limit. `could_not` names the ones that stay too low.
void raise_limits(std::vector<std::string>& could_not);
// Removes every variable except those that hypermiled and the NVML stand-in read, and sets PATH.
void clear_environment();

}  // namespace hypermile
