// SPDX-License-Identifier: Apache-2.0
//
// Starts the user's command as the shell would, with what makes it visible to us, and watches it
// until it ends; for run and sweep. Its exit code, signals, terminal and output are its own. What
// is missing on our side (library, driver, GPU, rights) is said in one line, and the job runs all
// the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/job.h"
#include "run/job_outcome.h"
#include "run/run_request.h"

namespace hypermile {

// The command with the environment and the user that it will have. Fails where `sudo` hides who
// that is.
Result<JobCommand> describe_job(const std::vector<std::string>& command);

struct FinishedRun {
  // kUsage where the run was interrupted before its start or its page cannot be set up as asked;
  // what start_job() says where the job cannot be started.
  Result<JobOutcome> outcome;
  // How the job ended; where it could not be started, how a shell would have ended. Absent where
  // no start was tried.
  std::optional<JobEnd> end = {};
};

// Returns when the job has ended and its report is written.
FinishedRun run_job(JobCommand job, const RunRequest& request, const RunWorld& world);

}  // namespace hypermile
