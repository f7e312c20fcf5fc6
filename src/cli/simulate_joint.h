// SPDX-License-Identifier: Apache-2.0
//
// `hypermile simulate --gpus N`: simulated jobs on several GPUs that wait for each other, in
// virtual time, each beside a default run of the same job (trial/joint_run.h).
#pragma once

#include <span>
#include <string>

#include "cli/command.h"
#include "trial/simulated_job.h"

namespace hypermile {

// kUsage where N or --imbalance is out of range; otherwise fails as the runs or the log's file do.
Result<void> simulate_joint(std::span<const SimulatedJob> jobs,
                            std::span<const std::string> policies, const OptionValues& values,
                            CommandContext& context);

}  // namespace hypermile
