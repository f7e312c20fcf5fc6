// SPDX-License-Identifier: Apache-2.0
//
// `--dry-run`: prints what run or attach would do on this machine, and with which rights. Opens
// GPUs to read what they can do; starts no job, asks for no password and changes nothing.
#pragma once

#include <string>
#include <vector>

#include "run/environment_variables.h"
#include "run/run_request.h"

namespace hypermile {

struct DryRunJob {
  std::vector<std::string> command = {};  // that would be run; empty: a job that already runs
  std::string user = {};                  // whom it would run as; "" for the caller
};

// Prints to world.out. kUsage where the GPU's name means no GPU.
Result<void> print_dry_run(const DryRunJob& job, const Environment& environment,
                           const RunRequest& request, const RunWorld& world);

}  // namespace hypermile
