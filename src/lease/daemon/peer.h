// SPDX-License-Identifier: Apache-2.0
//
// Identifies the process at the other end of a Unix socket, as reported by the kernel alone, and
// provides a handle that shows when that process has ended. Used by Server on the loop's thread.
#pragma once

#include "base/descriptor.h"
#include "base/result.h"
#include "lease/daemon/allow_list.h"

namespace hypermile {

// The peer at the time of the connection; `privileged` is left false. User and group are translated
// to this process's user namespace and the pid to its pid namespace; without a translation they are
// the overflow user and pid 0.
Result<Peer> identify_peer(int socket);

// A descriptor that becomes readable when the process ends, even if another process keeps its
// socket open. It is invalid where the kernel cannot provide it (pid 0, or no pidfds before Linux
// 5.3); then only the closed connection shows the end. kNotFound when the process has already
// ended, kIo when no descriptors are left.
Result<Descriptor> open_process_handle(int socket, const Peer& peer);

// True for user 0 with CAP_SYS_ADMIN in the initial user namespace; false in doubt. While the
// handle `process` exists, its pid cannot belong to another process.
bool is_privileged(const Peer& peer, const Descriptor& process);

}  // namespace hypermile
