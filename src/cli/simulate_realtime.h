// SPDX-License-Identifier: Apache-2.0
//
// The real-time side of `hypermile simulate`: a process that trains on a GPU of the NVML stand-in,
// and what the stand-in's GPUs are set to. The machine is the one that HYPERMILE_SIM_STATE,
// HYPERMILE_SIM_GPUS and HYPERMILE_SIM_SPEED name, shared with every NVML client of this computer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/command.h"

namespace hypermile {

struct RealtimeJobOptions {
  Seconds length = Seconds(10);                  // in simulated seconds
  std::optional<std::uint64_t> iterations = {};  // ends after so many, if that comes first
  std::string workload = "resnet50";             // a file of workloads/
  std::string gpu = "0";                         // index or UUID
  bool ticks = false;  // one line "N SECONDS" on context.out when iteration N is over
  bool json = false;
  // A rank of a job on `ranks` GPUs: processes with one `group` wait for each other before every
  // iteration. 0: alone.
  std::uint64_t group = 0;
  std::uint32_t ranks = 1;
};

// Loads the GPU until its length is over or a stop is requested, then prints iterations, time per
// iteration and energy. The clocks in force decide how fast it goes. Under `hypermile run` its
// launches are seen. Fails with kUsage for an
// unknown GPU or workload, kBusy where another process trains.
Result<void> run_realtime_job(const RealtimeJobOptions& options, CommandContext& context);

// The GPUs with their locks, limits, clocks and power.
Result<void> print_status(bool json, CommandContext& context);

// What --realtime and --status of a command line ask for; simulate hands over when one is given.
bool wants_stand_in(const OptionValues& values);
Result<void> use_stand_in(const OptionValues& values, CommandContext& context);

}  // namespace hypermile
