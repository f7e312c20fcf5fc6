// SPDX-License-Identifier: Apache-2.0
//
// What doctor says of the daemon: is it installed, does it run, may this user lease, is anything
// not given back.
#pragma once

#include <vector>

#include "cli/clock_rights.h"

namespace hypermile {

struct DaemonDiagnosis {
  std::vector<DoctorFinding> findings;
  RightsFacts rights;
};

// Only asks; waits four seconds at most.
DaemonDiagnosis diagnose_daemon();

}  // namespace hypermile
