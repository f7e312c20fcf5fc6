// SPDX-License-Identifier: Apache-2.0
//
// What run and sweep have in common: starting the user's command as the shell would, with what
// makes it visible to us, and watching it until it ends. Its exit code, signals, terminal and
// output are its own; whatever is missing on our side (library, driver, GPU, rights) is said in one
// line and the job runs all the same.
#pragma once

#include <string>
#include <vector>

#include "run/job.h"
#include "run/watch_job.h"

namespace hypermile {

// The command with the environment and the user that it will have. Fails where `sudo` hides who
// that is.
Result<JobCommand> describe_job(const std::vector<std::string>& command);

// How the job ended is in context.job_end. kUsage where it was interrupted before its start; what
// start_job() says where it cannot be started.
Result<JobOutcome> run_job(JobCommand job, const std::string& program, const ControlChoice& choice,
                           const OptionValues& options, CommandContext& context, JobReport& report);

}  // namespace hypermile
