// SPDX-License-Identifier: Apache-2.0
#include "inject/file_bytes.h"

#include <unistd.h>

#include <cerrno>

namespace hypermile {

bool read_at(int fd, void* into, std::size_t size, std::size_t offset) {
  ssize_t got = -1;
  do {
    got = ::pread(fd, into, size, static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(size);
}

bool write_at(int fd, const void* from, std::size_t size, std::size_t offset) {
  ssize_t put = -1;
  do {
    put = ::pwrite(fd, from, size, static_cast<off_t>(offset));
  } while (put < 0 && errno == EINTR);
  return put == static_cast<ssize_t>(size);
}

}  // namespace hypermile
