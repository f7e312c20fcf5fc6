// SPDX-License-Identifier: Apache-2.0
//
// `hypermile run -- CMD`: starts the job as the shell would, watches it from beside, moves its GPUs
// to the clocks of least energy within the slowdown allowed, and says at its end what an iteration
// took and cost (run/run_job.h). With --observe it changes nothing.
#include "cli/run_nodes.h"
#include "cli/run_options.h"
#include "run/dry_run.h"
#include "run/run_job.h"

namespace hypermile {
namespace {

std::vector<std::string> typed(const OptionValues& options,
                               const std::vector<std::string>& command) {
  std::vector<std::string> words = {"hypermile", "run"};
  if (options.flag("observe")) words.emplace_back("--observe");
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

Result<void> run_run(const CommandArguments& arguments, CommandContext& context) {
  const OptionValues& options = arguments.options;
  const std::vector<std::string>& command = arguments.positional;
  if (command.empty()) {
    return Error{ErrorCode::kUsage, "no command was given",
                 "put it after --: hypermile run -- python train.py"};
  }
  if (options.given("nodes-from")) return become_agent(arguments, context);
  ASSIGN_OR_RETURN(RunRequest request, read_run_request(options));
  request.program = "hypermile run";
  request.typed = typed(options, command);
  request.nvtx_step = text_if_given(options, "nvtx-step");
  ASSIGN_OR_RETURN(JobCommand job, describe_job(command));
  if (options.flag("dry-run")) {
    return print_dry_run({command, job.user ? job.user->name : ""}, job.environment, request,
                         world_of(context));
  }
  const FinishedRun result = run_job(std::move(job), request, world_of(context));
  context.job_end = result.end;
  RETURN_IF_ERROR(result.outcome);
  return {};
}

}  // namespace

const Command kRunCommand = {
    "run",
    "run a job at the clocks of least energy within a slowdown you choose",
    "",
    "  hypermile run -- python train.py                 at most 5 % slower; a summary at the end\n"
    "  hypermile run --max-slowdown 2% --log run.jsonl -- python train.py\n"
    "  hypermile run --report run.html -- python train.py     a page with plots at the end\n"
    "  hypermile run --serve -- python train.py         watch it at http://127.0.0.1:9487/\n"
    "  hypermile run --dry-run -- python train.py       print what would be done\n"
    "  hypermile run --cache no -- python train.py      search as if the job had never run here\n"
    "  hypermile run --observe -- python train.py       changes nothing\n"
    "  hypermile run --observe --nvtx-step step -- python train.py     NVTX ranges are iterations\n"
    "  hypermile run --nodes-from torchrun --secret-file S -- torchrun --nnodes=4 …     one bound\n"
    "                                                   for the job on all its hosts\n"
    "  hypermile run --json --quiet -- ./train > log    the last line of log is JSON\n",
    run_run,
    /*runs_command=*/true,
};

}  // namespace hypermile
