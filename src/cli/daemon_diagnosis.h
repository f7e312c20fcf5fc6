// SPDX-License-Identifier: Apache-2.0
//
// What doctor says of the daemon: is it installed, does it run, may this user lease, is anything
// not given back.
#pragma once

#include <vector>

#include "cli/diagnosis.h"

namespace hypermile {

// Only asks; waits two seconds at most.
std::vector<DoctorFinding> diagnose_daemon();

}  // namespace hypermile
