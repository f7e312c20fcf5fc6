// SPDX-License-Identifier: Apache-2.0
#include "base/resident_memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace hypermile {
namespace {

struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

// The mapping that a line of /proc/self/smaps opens, if its pages are a file's and nobody may write
// to them here.
std::optional<Mapping> read_only_file(const std::string& line) {
  Mapping mapping;
  char rights[5] = {};
  if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &mapping.begin, &mapping.end,
                  rights) != 3) {
    return std::nullopt;
  }
  const std::string_view may(rights);
  const bool readable = may == "r-xp" || may == "r--p";
  return readable && line.find('/') != std::string::npos ? std::optional(mapping) : std::nullopt;
}

// Drops pages of files that nobody changed.
void drop_clean_pages() {
  std::ifstream smaps("/proc/self/smaps");
  std::optional<Mapping> mapping;
  for (std::string line; std::getline(smaps, line);) {
    unsigned long changed_kib = 0;
    if (!(line[0] >= 'A' && line[0] <= 'Z')) {
      mapping = read_only_file(line);  // what follows, up to the next such line, is about it
    } else if (mapping && std::sscanf(line.c_str(), "Anonymous: %lu", &changed_kib) == 1) {
      // A page that was changed here, as the loader does before it takes the right to write away,
      // is no longer the file's: it would be lost.
      // NOLINTBEGIN(performance-no-int-to-ptr)
      if (changed_kib == 0) {
        ::madvise(reinterpret_cast<void*>(mapping->begin), mapping->end - mapping->begin,
                  MADV_DONTNEED);
      }
      // NOLINTEND(performance-no-int-to-ptr)
    }
  }
}

}  // namespace

void give_back_unused_memory() {
  ::malloc_trim(0);
  // The loader holds its lock while it tells of its objects: none can be loaded or closed in
  // another thread, and be changed or be something else, between the look at a mapping and its
  // release.
  ::dl_iterate_phdr(
      [](dl_phdr_info*, std::size_t, void*) {
        drop_clean_pages();
        return 1;  // once
      },
      nullptr);
}

}  // namespace hypermile
