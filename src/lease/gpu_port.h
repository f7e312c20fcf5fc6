// SPDX-License-Identifier: Apache-2.0
//
// One GPU as the lease table sees it. A port changes and restores its GPU in the order of the
// calls, on its own thread, so that a GPU that hangs delays neither the table nor another GPU.
// Failures arrive in `done` and status(). Implementations: GpuKeeperThread, and in tests one that
// answers immediately.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gpu/gpu.h"
#include "lease/lease.h"

namespace hypermile {

struct SetRequest {
  LeaseId lease = 0;
  std::string owner;  // recorded in the journal for its reader
  // The complete setting: a knob that it does not name returns to its baseline.
  Setting setting;
  Bounds bounds;
};

struct SetReply {
  Setting in_force;      // the setting of the GPU after bounds, without the knobs that failed
  ApplyOutcome outcome;  // per knob
};

enum class RestoreHow {
  kUntouched,  // none of our changes were on this knob
  kReset,      // to the driver's default
  kBaseline,   // to the value that was declared or recorded
  kForeign,    // another program has changed it since: left alone
  kGone,       // a restart of the machine or driver has already undone it
};
std::string_view to_string(RestoreHow how);

struct KnobRestore {
  Knob knob = Knob::kSmClock;
  Result<RestoreHow> result;
};

struct RestoreReport {
  std::vector<KnobRestore> knobs;  // results of the last attempt
  int attempts = 0;
  std::optional<Error> problem;  // why the GPU is not restored yet
  // What was wrong with the GPU's journal, in the first report after it was found.
  std::optional<Error> damage = {};
};

enum class RestoreScope {
  kChanged,     // what the journal lists as possibly changed
  kEverything,  // every knob, regardless of the journal: the administrator's reset
};

struct PortStatus {
  GpuIdentity identity;
  bool restored = false;         // none of our changes remain, and the GPU can be leased
  Setting in_force;              // our setting, less what has been restored
  std::optional<Error> problem;  // the newest one; empty once it is solved
  int attempts = 0;              // attempts at the current restore
  std::optional<Instant> since;  // start of the current call; a GPU that hangs shows here
  std::uint64_t restores = 0;    // completed since the start
  std::uint64_t failures = 0;    // failed attempts at a knob since the start
  // What the card shows against a restore that the driver called complete; "" if nothing does.
  std::string read_back = {};
  std::uint64_t looks = 0;       // at clocks that were given back, since the start
  std::uint64_t mismatches = 0;  // times that they were not free
};

class GpuPort {
 public:
  using SetDone = std::function<void(Result<SetReply>)>;
  using RestoreDone = std::function<void(const RestoreReport&)>;

  virtual ~GpuPort() = default;
  virtual const GpuUuid& uuid() const = 0;

  // Both return at once and are carried out in the order of the calls. `done` runs on the thread
  // that calls the table, now or later. A restore is repeated until it is complete, so its `done`
  // may never run.
  virtual void set(SetRequest request, SetDone done) = 0;
  virtual void restore(RestoreScope scope, RestoreDone done) = 0;

  virtual PortStatus status() const = 0;
};

}  // namespace hypermile
