// SPDX-License-Identifier: Apache-2.0
//
// Starts the user's command as the shell would have: same terminal, same process group, stdin,
// stdout and stderr untouched, no descriptor of ours, our inherited signal mask and dispositions.
// Nothing ties its life to ours: if hypermile is killed the job goes on.
//
// Deliberately not done: no process group of its own (Ctrl-C, Ctrl-Z and `fg` would change), no
// subreaper (a daemon that the job leaves behind belongs to init, as always), no death signal.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/job_end.h"
#include "base/result.h"
#include "run/environment_variables.h"
#include "run/invoking_user.h"
#include "run/signal_state.h"

namespace hypermile {

struct JobCommand {
  std::vector<std::string> arguments;  // the first is looked for in PATH; never empty
  Environment environment;
  std::optional<JobUser> user = {};  // nullopt: as we are
  SignalState signals;               // what the job inherits
};

// Returns once the command itself runs. kNotFound where there is no such command, kPermission or
// kIo where it cannot be run; exit_code_of() is what a shell would return for that.
Result<pid_t> start_job(const JobCommand& command);
int exit_code_of(const Error& not_started);

}  // namespace hypermile
