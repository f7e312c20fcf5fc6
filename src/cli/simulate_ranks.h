// SPDX-License-Identifier: Apache-2.0
//
// `hypermile simulate --realtime --ranks N`: a job of N processes on N GPUs of the NVML stand-in,
// as torchrun would start it. Each process is `simulate --realtime` on one GPU with
// HYPERMILE_SIM_GROUP set, so that it waits for the others before every iteration. When one process
// fails, the others are ended.
#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "cli/simulate_realtime.h"

namespace hypermile {

// Starts the ranks and waits for all of them. With --json it prints one document, {"ranks": [...]},
// which holds the documents of the ranks. kUsage where N or --gpu is no number; kIo where no
// process can be started; kInternal names the rank that failed.
Result<void> run_ranks(const OptionValues& values, CommandContext& context);

// Reads group and ranks from HYPERMILE_SIM_GROUP=NAME:N, where it is set; such a process ends with
// the process that started it. kUsage where the variable cannot be read.
Result<void> join_group(RealtimeJobOptions& options);

}  // namespace hypermile
