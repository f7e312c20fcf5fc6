// SPDX-License-Identifier: Apache-2.0
//
// Lists the names in a folder that is given by its descriptor, so that nobody can swap the path.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace hypermile {

// Calls `visit` with each name until `visit` returns false. Does nothing if the folder cannot be
// read.
template <class Visit>
void for_each_name(int folder, Visit visit) {
  // Opens a second descriptor, because readdir() moves its position and closedir() closes it.
  const int fd = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  DIR* entries = ::fdopendir(fd);
  if (!entries) {
    ::close(fd);
    return;
  }
  while (const dirent* entry = ::readdir(entries)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && !visit(std::string(name))) break;
  }
  ::closedir(entries);
}

}  // namespace hypermile
