// SPDX-License-Identifier: Apache-2.0
//
// `hypermile simulate`: a job on a GPU of the NVML stand-in, and what that stand-in is set to.
#include "cli/command.h"
#include "cli/simulate_realtime.h"

namespace hypermile {
namespace {

Result<void> run_simulate(const CommandArguments& arguments, CommandContext& context) {
  if (wants_stand_in(arguments.options)) return use_stand_in(arguments.options, context);
  return Error{ErrorCode::kUsage, "nothing was asked for",
               "give --realtime for a job on the NVML stand-in, or --status"};
}

}  // namespace

const Command kSimulateCommand = {
    "simulate",
    "train on a GPU of the NVML stand-in, or show what its GPUs are set to",
    "",
    "  hypermile simulate --realtime --seconds 30 --workload resnet50 --gpu 0\n"
    "  hypermile simulate --status --json\n",
    run_simulate,
};

}  // namespace hypermile
