// SPDX-License-Identifier: Apache-2.0
//
// What the daemon says of itself and its leases, asked over its socket from time to time; never on
// the path of a request or scrape.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "lease/protocol/message.h"

namespace hypermile {

struct DaemonView {
  std::optional<wire::DaemonStatus> status;  // absent: not reached
  wire::LeaseList leases;
  std::string problem;  // why it was not reached
};

// Takes a second at most.
DaemonView ask_daemon(const std::string& socket);

}  // namespace hypermile
