// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

namespace hypermile {

std::uint64_t derive_seed(std::uint64_t seed, const char* name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char* p = name; *p != '\0'; ++p) {
    hash = (hash ^ static_cast<unsigned char>(*p)) * 0x100000001b3ULL;
  }
  hash += seed * 0x9e3779b97f4a7c15ULL;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ULL;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebULL;
  return hash ^ (hash >> 31);
}

}  // namespace hypermile
