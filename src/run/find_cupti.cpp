// SPDX-License-Identifier: Apache-2.0
#include "run/find_cupti.h"

#include <glob.h>

#include <algorithm>

namespace hypermile {
namespace {

// Toolkits first: they fit the driver. Then what pip and PyTorch bring, for any Python.
constexpr const char* kPatterns[] = {
    "usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.[0-9]*",
    "usr/local/cuda*/targets/*/lib/libcupti.so.[0-9]*",
    "usr/lib/x86_64-linux-gnu/libcupti.so.[0-9]*",
    "opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib/libcupti.so.[0-9]*",
    "usr/local/lib/python3*/*-packages/nvidia/*/lib/libcupti.so.[0-9]*",
    "usr/lib/python3/dist-packages/nvidia/*/lib/libcupti.so.[0-9]*",
    "opt/conda/lib/python3*/site-packages/nvidia/*/lib/libcupti.so.[0-9]*",
    "home/*/.local/lib/python3*/site-packages/nvidia/*/lib/libcupti.so.[0-9]*",
};

}  // namespace

std::optional<std::string> find_cupti(const std::string& root) {
  for (const char* pattern : kPatterns) {
    glob_t found{};
    const bool any = ::glob((root + pattern).c_str(), 0, nullptr, &found) == 0;
    std::optional<std::string> newest;
    if (any)
      newest = *std::max_element(
          found.gl_pathv, found.gl_pathv + found.gl_pathc,
          [](const char* a, const char* b) { return std::string_view(a) < std::string_view(b); });
    ::globfree(&found);
    if (newest) return newest;
  }
  return std::nullopt;
}

}  // namespace hypermile
