// SPDX-License-Identifier: Apache-2.0
//
// Under `sudo hypermile run` the job is the invoking user's, never root's: who that is, from what
// sudo left in the environment and the user database.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/environment_variables.h"

namespace hypermile {

struct JobUser {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // all, `gid` included
  std::string name;
  std::string home;
  std::string shell;
};

// nullopt where the job runs as whoever runs us: without sudo, or when root itself called sudo. An
// error, and no job, where sudo's variables cannot be read or name nobody: then only root would be
// left to run it.
Result<std::optional<JobUser>> invoking_user(uid_t effective, const Environment& environment);

// HOME, USER, LOGNAME and SHELL become the user's, sudo's own variables go. PATH and the rest stay
// as sudo passed them on.
void become(const JobUser& user, Environment& environment);

}  // namespace hypermile
