// SPDX-License-Identifier: Apache-2.0
//
// Separates a guardian from everything that may be killed together with its owner: process group,
// session, terminal and control group.
#pragma once

#include "base/result.h"

namespace hypermile {

// Forks. Returns false in the original process, which should end so that sudo ends too. Returns
// true in the child, which has its own session, is in no control group of its owner, has no output
// to the owner's terminal or pipes, and descriptor 0 unchanged. kUsage when descriptor 0 is not a
// socket, kPermission when a control group could not be left. Call it before any thread is started.
Result<bool> start_guardian_session();

}  // namespace hypermile
