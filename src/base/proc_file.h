// SPDX-License-Identifier: Apache-2.0
//
// Reads files under /proc. A process may end between the open and the read; the read then fails,
// and a standard stream would throw. These functions return nullopt instead. Any thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace hypermile {

// All of /proc/PID/NAME; nullopt if it does not exist, may not be read, or the process has ended.
std::optional<std::string> read_proc_file(pid_t pid, const char* name);

}  // namespace hypermile
