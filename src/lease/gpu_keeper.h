// SPDX-License-Identifier: Apache-2.0
//
// Changes one GPU and restores it: no other code calls a GPU's setters. Before every change it
// writes a durable record to the GPU's own journal; a change that cannot be recorded is not made.
//
// Restoring means, for each knob: the value that the site declares, if any. Otherwise a power
// limit, which can be read, returns to the value found before our first change, and only if the
// present value is ours. Clocks, which have no getter, return to the driver's default. A lease
// never sets more than this value: it makes a GPU slower or leaves it alone.
//
// One process at a time keeps a GPU, by holding the lock file beside the journal. Restoring needs
// neither the lock nor a writable file: only a living keeper of another process keeps this one from
// it. Changing a GPU needs both.
//
// What was given back is read back. A power limit that is not what it was set to fails the restore.
// A clock has no getter for its lock, so read_back() compares what the card does: see there.
//
// GpuKeeperThread calls this on its thread; it blocks only in calls to the GPU and the disk.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/files.h"
#include "gpu/gpu.h"
#include "lease/gpu_port.h"
#include "lease/journal.h"
#include "lease/lock_holder.h"
#include "lease/machine_epoch.h"

namespace hypermile {

class GpuKeeper {
 public:
  struct Options {
    std::string folder;  // holds journals and locks; it exists, and only this user may write there
    std::string holder;  // shown to other processes by the lock: "hypermiled (pid 12)"
    MachineEpoch epoch;  // the present boot and driver
    Setting site;        // the administrator's power cap and clock locks; empty means none
    // False while a setter that was abandoned may still take effect (DeadlineGpu::settled); until
    // then the GPU does not count as restored. An absent function means always true.
    std::function<bool()> settled = {};
    // True if the text in a lock file that somebody else holds names a living keeper.
    std::function<bool(std::string_view holder)> keeper_lives = names_living_keeper;
  };
  // `files` and `clock` must outlive this. kUsage if the UUID cannot be a file name.
  static Result<std::unique_ptr<GpuKeeper>> make(std::unique_ptr<Gpu> gpu, Files& files,
                                                 const Clock& clock, Options options);

  const GpuIdentity& identity() const { return gpu_->identity(); }

  // Returns the outcome for each knob, or kPermission, kIo (the journal failed; nothing was
  // changed), or kNotReady (before the first complete restore(), or while changes of another lease
  // are not restored).
  Result<SetReply> set(const SetRequest& request);

  // Tries once to restore everything that is still changed, including changes by processes that
  // have died, and continues after an error. The restore is complete when the report has no
  // problem. The problem kBusy means that another process keeps the GPU; its message is that
  // process's `holder`.
  RestoreReport restore(RestoreScope scope);

  // What the card shows of the clocks that were given back since the last set().
  struct ReadBack {
    enum class Verdict {
      kNothing,     // no clock was given back
      kCannotTell,  // idle, throttled, or not seen above our ceiling before: the card shows nothing
      kAsExpected,  // the clock runs above the ceiling that we had set
      kStillLimited,  // busy, not throttled, at or below our ceiling, and faster before our change
    };
    Verdict verdict = Verdict::kNothing;
    std::string text = {};  // for people: "sm reads 1200 MHz, …"
  };
  ReadBack read_back();
  // Resets the clocks that read_back() speaks of once more.
  Result<void> give_back_again();

  // Our setting, less what has been restored.
  Setting in_force() const;
  // True when, as far as is known, none of our changes remain on the GPU.
  bool restored() const { return restored_once_ && !everything_ && journal_->changes().empty(); }

 private:
  GpuKeeper(std::unique_ptr<Gpu> gpu, Files& files, const Clock& clock, Options options);
  Result<void> take_over();
  Result<void> take_lock();
  void note_default_clocks(const Setting& setting);
  Result<void> check_limit(std::optional<double> target);
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
  bool everything_ = false;  // an administrator's reset is still incomplete
  bool restored_once_ = false;
  bool damage_reported_ = false;
  std::map<Knob, double> default_clocks_;  // in MHz, seen while busy before our first change
  std::map<Knob, double> given_back_;      // the ceiling in MHz that each clock had
};

}  // namespace hypermile
