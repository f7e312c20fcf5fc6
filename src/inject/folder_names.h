// SPDX-License-Identifier: Apache-2.0
//
// The names in a folder that is known by its descriptor, so that no path can be changed under us.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace hypermile {

// `visit` is told each name and answers whether it wants more. Nothing where the folder cannot be
// read.
template <class Visit>
void for_each_name(int folder, Visit visit) {
  // A descriptor of its own, because closedir() closes it and readdir() moves it.
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
