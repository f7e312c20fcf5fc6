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

// The mapping that starts at this line of /proc/self/smaps, if it maps a file and this process may
// not write to it.
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

void drop_clean_pages() {
  std::ifstream smaps("/proc/self/smaps");
  std::optional<Mapping> mapping;
  for (std::string line; std::getline(smaps, line);) {
    unsigned long changed_kib = 0;
    if (!(line[0] >= 'A' && line[0] <= 'Z')) {
      mapping = read_only_file(line);  // the lines up to the next mapping describe this one
    } else if (mapping && std::sscanf(line.c_str(), "Anonymous: %lu", &changed_kib) == 1) {
      // A page that this process changed (the loader does so before it removes write access) no
      // longer matches the file, and dropping it would lose the change.
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
  // dl_iterate_phdr holds the loader's lock, so no other thread can load or close a library between
  // the look at a mapping and its release.
  ::dl_iterate_phdr(
      [](dl_phdr_info*, std::size_t, void*) {
        drop_clean_pages();
        return 1;  // stop after the first object: one pass covers all mappings
      },
      nullptr);
}

}  // namespace hypermile
