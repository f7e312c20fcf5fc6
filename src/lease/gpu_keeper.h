// SPDX-License-Identifier: Apache-2.0
//
// The only caller of a GPU's setters: changes one GPU and gives it back. Every change is preceded
// by a durable record in the GPU's own journal; a change that cannot be recorded is not made.
//
// What "given back" means, knob by knob: the site's declared value where there is one; else for the
// power limit, which can be read, the value that was found before our first change, and only if
// what is there now is ours; else, for clocks, which have no getter, the driver's default. Nothing
// above that value is ever set: a lease makes a GPU slower or leaves it alone.
//
// One process keeps a GPU at a time: it holds the lock file beside the journal. The synchronous
// half of GpuKeeperThread; nothing here waits except the GPU's and the disk's calls.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/files.h"
#include "gpu/gpu.h"
#include "lease/gpu_port.h"
#include "lease/journal.h"
#include "lease/machine_epoch.h"

namespace hypermile {

class GpuKeeper {
 public:
  struct Options {
    std::string folder;  // of journals and locks; it is there, and for this user alone
    std::string holder;  // "hypermiled (pid 12)": what the lock tells others
    MachineEpoch epoch;  // which boot and driver this is
    Setting site;        // the administrator's power cap and clock locks; empty: none
    // False while a setter that was given up on may still take effect (DeadlineGpu::settled); the
    // GPU does not count as restored before. Absent: always true.
    std::function<bool()> settled = {};
  };
  // `files` and `clock` must outlive this. The UUID becomes a file's name: kUsage if it cannot be.
  static Result<std::unique_ptr<GpuKeeper>> make(std::unique_ptr<Gpu> gpu, Files& files,
                                                 const Clock& clock, Options options);

  const GpuIdentity& identity() const { return gpu_->identity(); }

  // kPermission, kIo (the journal; nothing was changed), kNotReady (before the first complete
  // restore(), or while something of another lease is not given back); else what became of each
  // knob.
  Result<SetReply> set(const SetRequest& request);

  // One attempt at everything that is still changed, also by processes that died before; goes on
  // after an error. Complete when the report has no problem. kBusy as the problem: another process
  // keeps the GPU, and the message is its own words.
  RestoreReport restore(RestoreScope scope);

  // What we told the GPU, of what is not yet given back.
  Setting in_force() const;
  // Nothing of ours is on the GPU, as far as anybody knows.
  bool restored() const { return restored_once_ && !everything_ && journal_->changes().empty(); }

 private:
  GpuKeeper(std::unique_ptr<Gpu> gpu, Files& files, const Clock& clock, Options options);
  Result<void> take_over();
  Result<void> check_ready(LeaseId lease) const;
  Result<std::map<Knob, ChangeRecord>> prepare(const SetRequest& request, const Setting& setting);
  Result<std::optional<double>> find_baseline(Knob knob);
  void give_back_unnamed(const Setting& setting, ApplyOutcome& outcome);
  std::map<Knob, KnobChange> to_restore() const;
  Result<RestoreHow> restore_knob(Knob knob, const KnobChange& change);
  Result<std::optional<RestoreHow>> compare_limit(const KnobChange& change, double target);
  Result<RestoreHow> give_back(Knob knob, std::optional<double> target);
  std::optional<double> target_of(Knob knob, const KnobChange& change) const;
  bool settled() const { return !options_.settled || options_.settled(); }

  std::unique_ptr<Gpu> gpu_;
  Files& files_;
  const Clock& clock_;
  Options options_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<Journal> journal_;
  bool everything_ = false;  // an administrator's reset is not complete yet
  bool restored_once_ = false;
};

}  // namespace hypermile
