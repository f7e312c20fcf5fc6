// SPDX-License-Identifier: Apache-2.0
#include "record/serve/daemon_view.h"

#include "lease/protocol/daemon_connection.h"

namespace hypermile {
namespace {

constexpr Seconds kDeadline = milliseconds(500);

Result<DaemonView> ask(const std::string& socket) {
  ASSIGN_OR_RETURN(auto connection, DaemonConnection::connect(socket));
  DaemonView view;
  ASSIGN_OR_RETURN(view.status,
                   connection.ask<wire::DaemonStatus>(wire::StatusRequest{}, kDeadline));
  ASSIGN_OR_RETURN(view.leases, connection.ask<wire::LeaseList>(wire::ListRequest{}, kDeadline));
  return view;
}

}  // namespace

DaemonView ask_daemon(const std::string& socket) {
  Result<DaemonView> view = ask(socket);
  if (view) return std::move(view).value();
  DaemonView nothing;
  nothing.problem = view.error().message;
  return nothing;
}

}  // namespace hypermile
