// SPDX-License-Identifier: Apache-2.0
//
// The privileged process as a whole: signals, driver, socket, service manager. A daemon serves
// every client of its socket. A guardian serves one client on the socket it was started with; when
// that client is gone, it restores the GPUs and ends. docs/guide/administrator.md explains what
// happens when which process dies.
#pragma once

#include <string>
#include <vector>

#include "base/identifiers.h"
#include "base/result.h"

namespace hypermile {

struct DaemonOptions {
  std::string config = "/etc/hypermile/hypermiled.toml";
  std::string socket;  // where to serve; default_socket_path()
  std::string state;   // folder of the journals; default_state_folder()
  // Serve the one client on descriptor 0, and keep the GPUs of its first request.
  bool guardian = false;
};

// $HYPERMILE_STATE, else /run/hypermile/state, which like the settings themselves does not survive
// a reboot.
std::string default_state_folder();

// Creates the folder for this user alone if it is missing; kPermission when others could write to
// it.
Result<void> prepare_state_folder(const std::string& folder);

// Returns when every GPU is restored after a request to stop or after the guardian's client is
// gone.
Result<void> run_daemon(const DaemonOptions& options);

}  // namespace hypermile
