// SPDX-License-Identifier: Apache-2.0
//
// What /proc says of a process. A process may end between opening a file there and reading it, and
// the read then fails: an error like any other here, an exception of a standard stream.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace hypermile {

// All of /proc/PID/NAME; nullopt where there is none, it may not be read, or the process has ended.
std::optional<std::string> read_proc_file(pid_t pid, const char* name);

}  // namespace hypermile
