// SPDX-License-Identifier: Apache-2.0
//
// `hypermile attach`: does for a job that already runs, from outside, what run does
// (run/attach_job.h). Ends with the job or with Ctrl-C.
#include "cli/run_options.h"
#include "run/attach_job.h"
#include "run/dry_run.h"

namespace hypermile {
namespace {

Result<RunningJob> find_job(const OptionValues& options, Clock& clock) {
  if (options.given("pid")) return find_running_job(static_cast<pid_t>(options.integer("pid")));
  if (options.given("gpu")) return find_job_on(options.text("gpu"), clock);
  return Error{ErrorCode::kUsage, "no job was named",
               "name one of its processes: hypermile attach --pid N, or its GPU: --gpu G"};
}

Result<void> run_attach(const CommandArguments& arguments, CommandContext& context) {
  const OptionValues& options = arguments.options;
  ASSIGN_OR_RETURN(RunRequest request, read_run_request(options));
  ASSIGN_OR_RETURN(RunningJob job, find_job(options, context.clock));
  if (options.given("rings")) job.ring_folder = options.text("rings");
  request.program = "hypermile attach";
  request.typed = {"hypermile", "attach", "--pid", std::to_string(job.pid)};
  if (options.flag("dry-run")) {
    return print_dry_run({}, job.environment, request, world_of(context));
  }
  RETURN_IF_ERROR(attach_job(job, request, world_of(context)));
  return {};
}

}  // namespace

const Command kAttachCommand = {
    "attach",
    "do what run does for a job that already runs",
    "",
    "  hypermile attach --pid 4242                      until the job ends, or Ctrl-C\n"
    "  hypermile attach --gpu 0 --max-slowdown 2%       the job on that GPU\n"
    "  hypermile attach --pid 4242 --observe            changes nothing\n",
    run_attach,
};

}  // namespace hypermile
