// SPDX-License-Identifier: Apache-2.0
//
// The daemon's status and leases, read over its socket every few seconds by the page server's
// polling thread, never while a request or a scrape is answered.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "lease/protocol/message.h"

namespace hypermile {

struct DaemonView {
  std::optional<wire::DaemonStatus> status;  // absent where the daemon was not reached
  wire::LeaseList leases;
  std::string problem;  // why the daemon was not reached
};

// Takes at most one second.
DaemonView ask_daemon(const std::string& socket);

}  // namespace hypermile
