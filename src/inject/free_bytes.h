// SPDX-License-Identifier: Apache-2.0
//
// How much can still be written where a ring lies. Used by the writer, inside other people's
// programs, and by RingFolder; plain C, no failure but 0.
#pragma once

#include <sys/statvfs.h>

#include <cstdint>

namespace hypermile {

// A file system without a limit says that it has no blocks at all.
inline std::uint64_t free_bytes_at(const char* path) {
  struct statvfs status {};
  if (::statvfs(path, &status) != 0) return 0;
  if (status.f_blocks == 0) return ~std::uint64_t{0};
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

}  // namespace hypermile
