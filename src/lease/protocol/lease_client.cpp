// SPDX-License-Identifier: Apache-2.0
#include "lease/protocol/lease_client.h"

namespace hypermile {
namespace {

constexpr Seconds kShort = Seconds(2);    // for requests that the daemon answers from memory
constexpr Seconds kDriver = Seconds(10);  // for requests that wait for driver calls
// A driver without persistence mode must load first.
constexpr Seconds kGuardianStart = Seconds(30);

}  // namespace

Result<wire::Applied> HeldLease::set(const GpuUuid& gpu, const Setting& setting) {
  return connection_.ask<wire::Applied>(wire::SetRequest{granted_.lease, gpu, setting}, kDriver);
}

Result<void> HeldLease::renew() {
  RETURN_IF_ERROR(connection_.ask<wire::Done>(wire::RenewRequest{granted_.lease}, kShort));
  return {};
}

Result<void> HeldLease::release() {
  RETURN_IF_ERROR(connection_.ask<wire::Done>(wire::ReleaseRequest{granted_.lease}, kDriver));
  return {};
}

Result<std::optional<DaemonConnection>> prepare_guardian(const std::string& socket,
                                                         const GuardianOptions& options) {
  const Result<DaemonConnection> daemon = DaemonConnection::connect(socket);
  if (daemon) return std::optional<DaemonConnection>();
  if (daemon.error().code != ErrorCode::kNotFound) return daemon.error();
  ASSIGN_OR_RETURN(Descriptor guardian, start_guardian(options));
  return std::optional(DaemonConnection(std::move(guardian)));
}

Result<std::unique_ptr<HeldLease>> acquire_lease(const LeaseOptions& options,
                                                 DaemonConnection& connection, bool guarded) {
  const wire::AcquireRequest request{options.gpus, options.ttl, options.program, options.job};
  ASSIGN_OR_RETURN(const auto granted,
                   connection.ask<wire::Granted>(request, guarded ? kGuardianStart : kShort));
  return std::make_unique<HeldLease>(std::move(connection), granted, guarded);
}

Result<std::unique_ptr<HeldLease>> open_lease(const LeaseOptions& options) {
  Result<DaemonConnection> connection = DaemonConnection::connect(options.socket);
  const bool guarded =
      !connection && connection.error().code == ErrorCode::kNotFound && options.guardian;
  if (guarded) {
    ASSIGN_OR_RETURN(Descriptor socket, start_guardian(*options.guardian));
    connection = DaemonConnection(std::move(socket));
  }
  if (!connection) return connection.error();
  return acquire_lease(options, *connection, guarded);
}

}  // namespace hypermile
