// SPDX-License-Identifier: Apache-2.0
//
// The real-time side of `hypermile simulate`: a process that trains on a GPU of the NVML stand-in,
// and the state of the stand-in's GPUs. HYPERMILE_SIM_STATE, HYPERMILE_SIM_GPUS and
// HYPERMILE_SIM_SPEED name the stand-in's machine, which all NVML clients of this computer share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/command.h"

namespace hypermile {

struct RealtimeJobOptions {
  Seconds length = Seconds(10);                  // in simulated seconds
  std::optional<std::uint64_t> iterations = {};  // ends after so many, if they come first
  std::string workload = "resnet50";             // a file of workloads/
  std::string gpu = "0";                         // index or UUID
  bool ticks = false;  // prints a line "N SECONDS" on context.out when iteration N is over
  // Runs one iteration for each line that is read from standard input, and ends with it: for a rank
  // whose program waits for ranks on other machines.
  bool paced = false;
  bool json = false;
  // A rank of a job on `ranks` GPUs: processes with one `group` wait for each other before every
  // iteration. 0: alone.
  std::uint64_t group = 0;
  std::uint32_t ranks = 1;
};

// Trains until the job's length is over or a stop is requested, then prints iterations, time per
// iteration and energy. The clocks in force decide how fast the job goes. `hypermile run` sees its
// launches. kUsage for an unknown GPU or workload, kBusy where another process trains on the GPU.
Result<void> run_realtime_job(const RealtimeJobOptions& options, CommandContext& context);

// Prints the GPUs with their locks, limits, clocks and power.
Result<void> print_status(bool json, CommandContext& context);

// `simulate` hands over to use_stand_in() where --realtime or --status is given.
bool wants_stand_in(const OptionValues& values);
Result<void> use_stand_in(const OptionValues& values, CommandContext& context);

}  // namespace hypermile
