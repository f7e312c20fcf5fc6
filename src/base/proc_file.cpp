// SPDX-License-Identifier: Apache-2.0
#include "base/proc_file.h"

#include "base/whole_file.h"

namespace hypermile {

std::optional<std::string> read_proc_file(pid_t pid, const char* name) {
  return read_whole_file("/proc/" + std::to_string(pid) + "/" + name);
}

}  // namespace hypermile
