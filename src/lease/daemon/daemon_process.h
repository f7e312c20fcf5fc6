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
  // Restore what dead processes left changed, and end.
  bool recover = false;
};

// $HYPERMILE_STATE, else /run/hypermiled, which like the settings themselves does not survive a
// reboot. It is not in the socket's folder, because that one is mounted into containers.
std::string default_state_folder();

// Creates the folder for this user alone if it is missing, and closes it to others if it is open,
// whatever the file mask. kPermission when it belongs to somebody else, or when others could
// replace a folder above it.
Result<void> prepare_state_folder(const std::string& folder);

// Creates the folder of the socket, which everybody may enter and only this user may write.
Result<void> prepare_socket_folder(const std::string& socket);

// Returns when every GPU is restored after a request to stop or after the guardian's client is
// gone.
Result<void> run_daemon(const DaemonOptions& options);

}  // namespace hypermile
