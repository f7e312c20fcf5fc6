// SPDX-License-Identifier: Apache-2.0
//
// `hypermile simulate --gpus N`: simulated jobs on several GPUs that wait for each other, in
// virtual time under the whole Controller, each beside a default run of the same job
// (simulate/joint_run.h).
#pragma once

#include <span>
#include <string>

#include "cli/command.h"
#include "trial/simulated_run.h"

namespace hypermile {

// kUsage where N makes no sense; otherwise what the runs or the log's file say.
Result<void> simulate_joint(std::span<const SimulatedJob> jobs,
                            std::span<const std::string> policies, const OptionValues& values,
                            CommandContext& context);

}  // namespace hypermile
