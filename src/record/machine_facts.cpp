// SPDX-License-Identifier: Apache-2.0
#include "record/machine_facts.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>

#include "base/version.h"

namespace hypermile {
namespace {

constexpr const char* kVariables[] = {
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",  "CUDA_INJECTION64_PATH", "HYPERMILE_READ_ONLY",
    "HYPERMILE_NVML",       "HYPERMILE_SIM_GPUS", "SLURM_JOB_ID",          "SLURM_STEP_ID",
    "SLURMD_NODENAME",      "SLURM_JOB_USER"};

}  // namespace

RunStart describe_run(const Clock& clock, std::vector<std::string> command,
                      std::vector<GpuIdentity> gpus) {
  RunStart start;
  start.unix_time = clock.unix_time();
  start.run = RunId(fmt::format("{:.0f}-{}", start.unix_time * 1e3, ::getpid()));
  start.program = fmt::format("hypermile {}", kVersion);
  start.command = std::move(command);
  start.gpus = std::move(gpus);
  utsname system{};
  if (::uname(&system) == 0) {
    start.environment["host"] = system.nodename;
    start.environment["kernel"] = fmt::format("{} {}", system.sysname, system.release);
  }
  // No name is looked up: that may ask a network, and the job waits.
  const char* user = std::getenv("USER");
  start.environment["user"] = user != nullptr ? user : std::to_string(::getuid());
  for (const char* name : kVariables) {
    if (const char* value = std::getenv(name)) start.environment[name] = value;
  }
  return start;
}

}  // namespace hypermile
