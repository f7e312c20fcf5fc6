// SPDX-License-Identifier: Apache-2.0
//
// Who is at the other end of a Unix socket, by the kernel's word alone, and a handle on that
// process that tells when it is gone.
#pragma once

#include "base/descriptor.h"
#include "base/result.h"
#include "lease/daemon/allow_list.h"

namespace hypermile {

// As it was when the connection was made, but for `privileged`, which is false. User and group are
// translated to this process's user namespace, the pid to its pid namespace; what has no
// translation is the overflow user, or pid 0.
Result<Peer> identify_peer(int socket);

// Readable once the process is gone, also while another keeps its socket open. No descriptor where
// the kernel cannot say (pid 0, or no pidfds before Linux 5.3): then the hang-up alone tells.
// kNotFound when the process is gone already, kIo when there are no descriptors left.
Result<Descriptor> open_process_handle(int socket, const Peer& peer);

// Is it user 0 with CAP_SYS_ADMIN in the initial user namespace? `process` is its handle: while
// that lives, its pid means it and no other. False in doubt.
bool is_privileged(const Peer& peer, const Descriptor& process);

}  // namespace hypermile
