// SPDX-License-Identifier: Apache-2.0
//
// For tests: `job_driver CMD…` runs a command through the launcher's job code and ends as the
// command ended, without the rest of hypermile.
#include <unistd.h>

#include <cstdio>

#include "run/job.h"
#include "run/job_watch.h"

int main(int, char** argv) {
  using namespace hypermile;
  const SignalState inherited = SignalState::current();
  HeldSignals signals;
  JobCommand command;
  for (char** word = argv + 1; *word != nullptr; ++word) command.arguments.emplace_back(*word);
  command.environment = Environment::from(environ);
  command.signals = inherited;
  const Result<pid_t> job = start_job(command);
  if (!job) {
    std::fprintf(stderr, "%s\n", job.error().line().c_str());
    return exit_code_of(job.error());
  }
  return end_like(JobWatch(*job, signals).wait());
}
