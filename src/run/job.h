// SPDX-License-Identifier: Apache-2.0
//
// Starts the user's command as the shell would: with the same terminal and process group, stdin,
// stdout and stderr untouched, no descriptor of ours, and the signal mask and dispositions that we
// inherited. The job does not depend on us: if hypermile is killed, the job goes on.
//
// The job deliberately gets no process group of its own (Ctrl-C, Ctrl-Z and `fg` would change), no
// subreaper (a daemon that the job leaves behind belongs to init, as always) and no death signal.
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
  std::vector<std::string> arguments;  // never empty; the first is looked for in PATH
  Environment environment;
  std::optional<JobUser> user = {};  // nullopt: the caller
  SignalState signals;               // what the job inherits
};

// Returns once the command itself runs. kNotFound where there is no such command, kPermission or
// kIo where it cannot be run.
Result<pid_t> start_job(const JobCommand& command);
// What a shell would return for that error.
int exit_code_of(const Error& not_started);

}  // namespace hypermile
