// SPDX-License-Identifier: Apache-2.0
//
// How a program changes clocks: open_lease(), then set(), and renew() well within the TTL from its
// own loop. The lease ends with release(), with this object, with the process, or when it is not
// renewed; the GPUs are restored in every case.
//
// There is no thread and no signal handler. Every call has a deadline, and a failure costs only the
// lease: the training job continues at the driver's default.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/setting.h"
#include "lease/protocol/daemon_connection.h"
#include "lease/protocol/guardian_start.h"
#include "lease/protocol/message.h"
#include "lease/protocol/socket_address.h"

namespace hypermile {

struct LeaseOptions {
  std::vector<GpuUuid> gpus;
  Seconds ttl = Seconds(10);
  std::string program;   // shown by `hypermile leases`
  std::string job = {};  // job of a batch system, or empty
  std::string socket = default_socket_path();
  // Used where no daemon runs; nullopt: fail with kNotFound instead.
  std::optional<GuardianOptions> guardian = GuardianOptions{default_guardian_program(), false};
};

// Used by one thread at a time.
class HeldLease {
 public:
  HeldLease(DaemonConnection connection, wire::Granted granted, bool guarded)
      : connection_(std::move(connection)), granted_(granted), guarded_(guarded) {}

  LeaseId id() const { return granted_.lease; }
  Seconds ttl() const { return granted_.ttl; }  // renew within this time
  // The lease ends after this time even if renewed.
  std::optional<Seconds> longest() const { return granted_.longest; }
  bool guarded() const { return guarded_; }  // granted by our own guardian
  // What was granted, for whoever wants to know it beside the thread that uses the lease.
  const wire::Granted& granted() const { return granted_; }

  // Returns the setting in force, perhaps clamped to what is allowed, and the problems of single
  // knobs. Knobs that `setting` does not name are restored. kPermission: nothing was changed.
  // kNotFound: the lease has ended, and the message says why.
  Result<wire::Applied> set(const GpuUuid& gpu, const Setting& setting);
  Result<void> renew();
  // Returns when every GPU is restored; kTimeout when one does not answer, which the daemon keeps
  // trying to restore.
  Result<void> release();

  // Call it after the lease has ended. Another lease can be acquired on the connection, unless the
  // other end is gone too.
  DaemonConnection take_connection() && { return std::move(connection_); }

 private:
  DaemonConnection connection_;
  wire::Granted granted_;
  bool guarded_;
};

// Starts a guardian early, so that sudo asks for a password before the job begins. The guardian
// keeps no GPU until its first lease. nullopt where a daemon serves at `socket`.
Result<std::optional<DaemonConnection>> prepare_guardian(const std::string& socket,
                                                         const GuardianOptions& options);

// Acquires a lease on `connection`, which is moved from only if the lease is granted.
Result<std::unique_ptr<HeldLease>> acquire_lease(const LeaseOptions& options,
                                                 DaemonConnection& connection, bool guarded);

// Acquires from the daemon if one runs, else from a guardian started for it. kPermission: not
// allowed; kBusy names who holds the GPU; kNotFound: neither daemon nor guardian.
Result<std::unique_ptr<HeldLease>> open_lease(const LeaseOptions& options);

}  // namespace hypermile
