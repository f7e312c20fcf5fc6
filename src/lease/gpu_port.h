// SPDX-License-Identifier: Apache-2.0
//
// One GPU as the table of leases sees it: somebody who changes it and gives it back, in order, on a
// thread of its own, so that a GPU that hangs delays neither the table nor another GPU.
// Implementations: GpuKeeperThread, and in tests one that works at once.
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
  std::string owner;  // for the journal's reader
  // Whole: a knob that it does not name goes back to its baseline.
  Setting setting;
  Bounds bounds;
};

struct SetReply {
  Setting in_force;      // what the GPU was told, after bounds; what failed is not in it
  ApplyOutcome outcome;  // per knob
};

enum class RestoreHow {
  kUntouched,  // nothing of ours was found there
  kReset,      // to the driver's default
  kBaseline,   // to the declared or recorded value
  kForeign,    // somebody else has changed it meanwhile: left alone
  kGone,       // the machine or driver was restarted since: nothing to undo
};
std::string_view to_string(RestoreHow how);

struct KnobRestore {
  Knob knob = Knob::kSmClock;
  Result<RestoreHow> result;
};

struct RestoreReport {
  std::vector<KnobRestore> knobs;  // of the last attempt
  int attempts = 0;
  std::optional<Error> problem;  // why the GPU is not restored yet, or its journal not usable
};

enum class RestoreScope {
  kChanged,     // what the journal says may be changed
  kEverything,  // every knob, whatever the journal says: the administrator's way out
};

struct PortStatus {
  GpuIdentity identity;
  bool restored = false;         // nothing of ours is on the GPU, and it can be leased
  Setting in_force;              // what we told it, of what is not yet given back
  std::optional<Error> problem;  // the last one, while there is one
  int attempts = 0;              // at the restore that is under way
  std::optional<Instant> since;  // when the call under way began; a GPU that hangs shows here
  std::uint64_t restores = 0;    // completed, since the start
  std::uint64_t failures = 0;    // attempts at a knob that failed, since the start
};

class GpuPort {
 public:
  using SetDone = std::function<void(Result<SetReply>)>;
  using RestoreDone = std::function<void(const RestoreReport&)>;

  virtual ~GpuPort() = default;
  virtual const GpuUuid& uuid() const = 0;

  // Both return at once and are carried out in the order of the calls. `done` is called on the
  // thread that calls the table, now or later; of a restore only when it is complete, which may be
  // never: it is tried again until then.
  virtual void set(SetRequest request, SetDone done) = 0;
  virtual void restore(RestoreScope scope, RestoreDone done) = 0;

  virtual PortStatus status() const = 0;
};

}  // namespace hypermile
