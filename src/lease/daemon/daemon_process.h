// SPDX-License-Identifier: Apache-2.0
//
// The privileged process as a whole: signals, driver, socket, service manager. As the daemon it
// serves everybody who finds its socket; as a guardian one client on the socket it was started
// with, after whom it restores and ends. docs/guide/administrator.md says what happens when who
// dies.
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
  // Serve the one client on descriptor 0, and keep the GPUs that it first asks for.
  bool guardian = false;
};

// $HYPERMILE_STATE, else /run/hypermile/state: what it protects does not outlast a boot either.
std::string default_state_folder();

// Made where it is missing, for this user alone; kPermission when others could write it.
Result<void> prepare_state_folder(const std::string& folder);

// Returns when it was told to stop, or a guardian's client is gone, and every GPU is restored.
Result<void> run_daemon(const DaemonOptions& options);

}  // namespace hypermile
