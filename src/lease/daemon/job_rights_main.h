// SPDX-License-Identifier: Apache-2.0
//
// `hypermiled --grant` and `hypermiled --revoke`: what a batch system's prolog and epilog call, as
// root. Short, because nodes wait for them: no Slurm command, one look at the driver, one request
// to the daemon.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hypermile {

// The arguments begin with --grant or --revoke. A revoke of a job that has no right is a success;
// otherwise it succeeds when the daemon has restored the job's GPUs.
Result<void> change_job_rights(const std::vector<std::string>& arguments);

}  // namespace hypermile
