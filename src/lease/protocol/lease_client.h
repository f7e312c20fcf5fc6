// SPDX-License-Identifier: Apache-2.0
//
// How a program gets at clocks: open_lease(), then set(), and renew() well within the TTL from its
// own loop. Whatever happens to the program, the GPUs go back: the lease ends with release(), with
// this object, with the process, or when it is not renewed.
//
// No thread, no signal handler. Every call has a deadline, and failing costs nothing but the lease:
// the training job goes on at the driver's default.
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
  std::string program;   // what `hypermile leases` shows
  std::string job = {};  // a batch system's job, or empty
  std::string socket = default_socket_path();
  // Where no daemon serves; nullopt: then there is no lease.
  std::optional<GuardianOptions> guardian = GuardianOptions{default_guardian_program(), false};
};

// Used by one thread at a time.
class HeldLease {
 public:
  HeldLease(DaemonConnection connection, wire::Granted granted, bool guarded)
      : connection_(std::move(connection)), granted_(granted), guarded_(guarded) {}

  LeaseId id() const { return granted_.lease; }
  Seconds ttl() const { return granted_.ttl; }                         // renew within it
  std::optional<Seconds> longest() const { return granted_.longest; }  // over then, renewed or not
  bool guarded() const { return guarded_; }                            // by a guardian of our own

  // What the GPU was told, perhaps clamped to what is allowed, and what failed of single knobs.
  // Knobs that `setting` does not name go back. kPermission: nothing was changed. kNotFound: the
  // lease is over, and the message says why.
  Result<wire::Applied> set(const GpuUuid& gpu, const Setting& setting);
  Result<void> renew();
  // Returns when every GPU is restored; kTimeout when one does not answer: it is tried on.
  Result<void> release();

  // Once the lease is over: another can be acquired on it, unless the other end is gone too.
  DaemonConnection take_connection() && { return std::move(connection_); }

 private:
  DaemonConnection connection_;
  wire::Granted granted_;
  bool guarded_;
};

// Started ahead of need, so that a password is asked for before the job begins: it waits until it
// is asked for its first lease, and keeps no GPU before. nullopt where a daemon serves at `socket`.
Result<std::optional<DaemonConnection>> prepare_guardian(const std::string& socket,
                                                         const GuardianOptions& options);

// From such a guardian, or from anybody else who answers at `connection`, which is left as it is
// unless the lease is granted.
Result<std::unique_ptr<HeldLease>> acquire_lease(const LeaseOptions& options,
                                                 DaemonConnection& connection, bool guarded);

// From the daemon if one serves, else from a guardian that is started for it. kPermission: not
// allowed; kBusy names who holds the GPU; kNotFound: neither daemon nor guardian.
Result<std::unique_ptr<HeldLease>> open_lease(const LeaseOptions& options);

}  // namespace hypermile
