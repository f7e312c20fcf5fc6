// SPDX-License-Identifier: Apache-2.0
//
// Rights that last as long as a job of the batch system: a user may change the GPUs that a job of
// theirs has. The batch system's prolog grants them (`hypermiled --grant`) and its epilog takes
// them away (`hypermiled --revoke`), both as root. The daemon looks here where no rule of
// hypermiled.toml allows a user, if the file has a [slurm] section. Each job has one small file in
// the daemon's state folder, which does not survive a reboot, as the jobs do not.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

#include "base/identifiers.h"
#include "base/result.h"

namespace hypermile {

struct JobRight {
  std::string job;
  uid_t uid = 0;
  std::set<GpuUuid> gpus = {};
};

// `state` is the daemon's folder. kUsage for a job's name that is none; kIo where nothing can be
// written.
Result<void> grant_job(const std::string& state, const JobRight& right);
// Takes the right away and returns it; kNotFound where there was none.
Result<JobRight> revoke_job(const std::string& state, const std::string& job);

// GPUs of the job that other jobs have as well.
std::set<GpuUuid> shared_gpus(const std::string& state, const JobRight& right);

// Whether a job of the user has the GPU and no other job has it. Nobody may change the clocks of a
// GPU that two jobs share. Files that cannot be trusted or read grant nothing.
bool job_allows(const std::string& state, uid_t uid, const GpuUuid& gpu);

}  // namespace hypermile
