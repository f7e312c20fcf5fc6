// SPDX-License-Identifier: Apache-2.0
//
// How a guardian gets out of reach of whatever ends its owner: its process group, its session and
// terminal, its control group.
#pragma once

#include "base/result.h"

namespace hypermile {

// Forks: false in the process that was started, which should end so that sudo ends with it; true in
// the one that stays, which is a session of its own, in a control group of its own where the kernel
// lets it, with standard output and error closed to the owner's terminal and pipes, and descriptor
// 0 as it was. kUsage when that is no socket. Call before any thread is started.
Result<bool> start_guardian_session();

}  // namespace hypermile
