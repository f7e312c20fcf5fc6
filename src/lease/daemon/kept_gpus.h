// SPDX-License-Identifier: Apache-2.0
//
// From a driver to GPUs that can be leased: lists them, opens all at once, and puts each under its
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
  std::string folder;                    // of the journals
  std::string holder;                    // "hypermiled (pid 12)", for those who find the GPU kept
  std::set<GpuUuid> only = {};           // empty: every GPU
  const DaemonConfig* config = nullptr;  // for the baselines; read during the call only
};

using KeptGpus = std::vector<std::unique_ptr<GpuKeeperThread>>;

// Blocks while the driver is asked which GPUs there are, 20 s at most. kNoDriver, kTimeout;
// kNotFound when there is no GPU, or not one that was asked for. `files` and `clock` must outlive
// the result, and `to_loop` is called from its threads.
Result<KeptGpus> keep_gpus(const KeepOptions& options, Files& files, Clock& clock,
                           const GpuKeeperThread::ToLoop& to_loop, const Log& log);

struct GpuRestored {
  GpuIdentity identity;
  RestoreReport report;  // kBusy: another process keeps the GPU
};

// One attempt on each of `gpus`, all at once; one that hangs delays no other's, only the return.
std::vector<GpuRestored> restore_each(const std::vector<GpuIdentity>& gpus, RestoreScope scope,
                                      const KeepOptions& options, Files& files, Clock& clock);

// Gives back what processes that died left on GPUs that nobody keeps now and that `options` does
// not name. Blocks as long as the drivers' calls do.
void restore_orphans(const KeepOptions& options, Files& files, Clock& clock, const Log& log);

}  // namespace hypermile
