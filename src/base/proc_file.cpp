// SPDX-License-Identifier: Apache-2.0
#include "base/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptor.h"

namespace hypermile {

std::optional<std::string> read_proc_file(pid_t pid, const char* name) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer, sizeof(buffer));
    if (got == 0) return text;
    if (got < 0 && errno != EINTR) return std::nullopt;
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace hypermile
