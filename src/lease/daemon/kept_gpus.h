// SPDX-License-Identifier: Apache-2.0
//
// Makes the driver's GPUs leasable: lists them, opens all in parallel, and puts each under its
// keeper's thread. The daemon keeps every GPU of the machine, a guardian those of its one job.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "lease/daemon/daemon_config.h"
#include "lease/daemon/log.h"
#include "lease/gpu_keeper_thread.h"

namespace hypermile {

struct KeepOptions {
  std::string folder;           // holds the journals
  std::string holder;           // "hypermiled (pid 12)", shown to other processes that want the GPU
  std::set<GpuUuid> only = {};  // empty means every GPU
  const DaemonConfig* config = nullptr;  // source of the baselines; used during the call only
};

using KeptGpus = std::vector<std::unique_ptr<GpuKeeperThread>>;

// Blocks while the driver lists its GPUs, at most 20 s. Fails with kNoDriver, kTimeout, or
// kNotFound when there is no GPU or a requested one is missing. `files` and `clock` must outlive
// the result, and `to_loop` is called from its threads.
Result<KeptGpus> keep_gpus(const KeepOptions& options, Files& files, Clock& clock,
                           const GpuKeeperThread::ToLoop& to_loop, const Log& log);

struct GpuRestored {
  GpuIdentity identity;
  RestoreReport report;  // kBusy: another process keeps the GPU
};

// Tries once to restore each of `gpus`, in parallel. One that hangs delays only the return.
std::vector<GpuRestored> restore_each(const std::vector<GpuIdentity>& gpus, RestoreScope scope,
                                      const KeepOptions& options, Files& files, Clock& clock);

// Restores what dead processes left on GPUs that no process keeps now and that `options` does not
// name, in up to `attempts` attempts 0.3 s apart. Blocks for as long as the driver calls do.
// Returns how many GPUs are still changed and kept by nobody.
std::size_t restore_orphans(const KeepOptions& options, Files& files, Clock& clock, const Log& log,
                            int attempts = 5);

}  // namespace hypermile
