// SPDX-License-Identifier: Apache-2.0
//
// Under `sudo hypermile run` the job runs as the user who called sudo, never as root. This finds
// that user, from sudo's variables and the user database.
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
  std::vector<gid_t> groups;  // all groups, `gid` included
  std::string name;
  std::string home;
  std::string shell;
};

// nullopt where the job runs as the caller: without sudo, or when root itself called sudo.
// kPermission where sudo's variables make no sense or name no user; the job must not start then,
// because it would run as root.
Result<std::optional<JobUser>> invoking_user(uid_t effective, const Environment& environment);

// Sets HOME, USER, LOGNAME and SHELL to the user's and removes sudo's own variables. PATH and the
// rest stay as sudo passed them on.
void become(const JobUser& user, Environment& environment);

}  // namespace hypermile
