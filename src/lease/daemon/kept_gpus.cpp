// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/kept_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "gpu/nvml/nvml_open.h"
#include "gpu/opening_gpu.h"
#include "lease/gpu_keeper.h"
#include "lease/journal.h"
#include "lease/machine_epoch.h"

namespace hypermile {
namespace {

// The first call to a driver without persistence mode takes seconds.
constexpr Seconds kListDeadline = Seconds(20);
constexpr Seconds kOrphanPause = milliseconds(300);

Result<std::unique_ptr<GpuKeeper>> make_keeper(const GpuIdentity& identity,
                                               const KeepOptions& options, Files& files,
                                               Clock& clock) {
  auto gpu = std::make_unique<OpeningGpu>(identity, [uuid = identity.uuid, &clock] {
    return open_gpu_with_deadlines(uuid, clock, {});
  });
  GpuKeeper::Options keeper{options.folder, options.holder, read_machine_epoch(),
                            options.config->baseline(identity.uuid),
                            [watched = gpu.get()] { return watched->settled(); }};
  return GpuKeeper::make(std::move(gpu), files, clock, std::move(keeper));
}

Result<GpuList> list_machine(const Log& log) {
  ASSIGN_OR_RETURN(GpuList machine, list_gpus_within(kListDeadline));
  for (const Error& problem : machine.unreachable) log(LogLevel::kWarning, problem.line());
  if (machine.gpus.empty()) {
    return Error{ErrorCode::kNotFound, "the driver lists no GPU that responds",
                 "check 'nvidia-smi -L' and the kernel log"};
  }
  return machine;
}

}  // namespace

Result<KeptGpus> keep_gpus(const KeepOptions& options, Files& files, Clock& clock,
                           const GpuKeeperThread::ToLoop& to_loop, const Log& log) {
  ASSIGN_OR_RETURN(const GpuList machine, list_machine(log));
  for (const GpuUuid& wanted : options.only) {
    const bool known = std::ranges::any_of(
        machine.gpus, [&](const GpuIdentity& identity) { return identity.uuid == wanted; });
    if (!known) {
      return Error{ErrorCode::kNotFound, fmt::format("there is no GPU {} here", wanted.text()),
                   "hypermile doctor lists the GPUs"};
    }
  }
  KeptGpus kept;
  for (const GpuIdentity& identity : machine.gpus) {
    if (!options.only.empty() && !options.only.contains(identity.uuid)) continue;
    ASSIGN_OR_RETURN(auto keeper, make_keeper(identity, options, files, clock));
    kept.push_back(std::make_unique<GpuKeeperThread>(
        std::move(keeper), clock, to_loop, [log, uuid = identity.uuid](const Error& problem) {
          log(LogLevel::kError, problem.in(uuid.text()).line());
        }));
  }
  return kept;
}

std::vector<GpuRestored> restore_each(const std::vector<GpuIdentity>& gpus, RestoreScope scope,
                                      const KeepOptions& options, Files& files, Clock& clock) {
  std::vector<GpuRestored> restored;
  for (const GpuIdentity& identity : gpus) restored.push_back({identity, {}});
  std::vector<std::thread> threads;
  for (GpuRestored& gpu : restored) {
    threads.emplace_back([&gpu, scope, &options, &files, &clock] {
      const auto keeper = make_keeper(gpu.identity, options, files, clock);
      if (keeper) {
        gpu.report = (*keeper)->restore(scope);
      } else {
        gpu.report.problem = keeper.error();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return restored;
}

std::size_t restore_orphans(const KeepOptions& options, Files& files, Clock& clock, const Log& log,
                            int attempts) {
  const Result<GpuList> machine = list_machine(log);
  if (!machine) return 0;
  std::vector<GpuIdentity> orphans;
  for (const GpuIdentity& identity : machine->gpus) {
    if (options.only.contains(identity.uuid)) continue;
    // Read without the lock, which another process may be about to take. A complete journal without
    // changes can be trusted; anything else is checked again under the lock.
    const auto journal = Journal::open(files, options.folder, identity.uuid, read_machine_epoch());
    if (!journal->changes().empty()) orphans.push_back(identity);
  }
  std::size_t changed = 0;
  for (int attempt = 0; attempt < attempts && !orphans.empty(); ++attempt) {
    if (attempt > 0) clock.sleep_for(kOrphanPause);
    std::vector<GpuIdentity> left;
    changed = 0;
    for (const auto& [identity, report] :
         restore_each(orphans, RestoreScope::kChanged, options, files, clock)) {
      if (report.damage) {
        log(LogLevel::kError, report.damage->in(identity.uuid.text()).line());
      }
      if (report.problem) {
        left.push_back(identity);
        // A GPU that another process keeps is not an orphan, unless that process is just ending.
        if (report.problem->code == ErrorCode::kBusy) continue;
        ++changed;
        log(LogLevel::kWarning, report.problem->in(identity.uuid.text()).line());
      } else if (!report.knobs.empty()) {
        log(LogLevel::kNotice, identity.uuid.text() + ": restored after a process had died");
      }
    }
    orphans = std::move(left);
  }
  return changed;
}

}  // namespace hypermile
