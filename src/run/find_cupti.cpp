// SPDX-License-Identifier: Apache-2.0
#include "run/find_cupti.h"

#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <vector>

namespace hypermile {
namespace {

namespace fs = std::filesystem;

// Toolkits come first because they fit the driver; then what pip and PyTorch bring, for any Python.
constexpr const char* kMachinePatterns[] = {
    "usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.[0-9]*",
    "usr/local/cuda*/targets/*/lib/libcupti.so.[0-9]*",
    "usr/lib/x86_64-linux-gnu/libcupti.so.[0-9]*",
    "opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib/libcupti.so.[0-9]*",
    "usr/local/lib/python3*/*-packages/nvidia/*/lib/libcupti.so.[0-9]*",
    "usr/lib/python3/dist-packages/nvidia/*/lib/libcupti.so.[0-9]*",
    "opt/conda/lib/python3*/site-packages/nvidia/*/lib/libcupti.so.[0-9]*",
    "home/*/.local/lib/python3*/site-packages/nvidia/*/lib/libcupti.so.[0-9]*",
};
constexpr const char* kEnvironmentPattern =
    "/lib/python3*/*-packages/nvidia/*/lib/libcupti.so.[0-9]*";

// By number, so that 13 comes after 9. The file's own version decides, then the folder's.
bool older(const std::string& a, const std::string& b) {
  const int by_file = ::strverscmp(fs::path(a).filename().c_str(), fs::path(b).filename().c_str());
  return by_file != 0 ? by_file < 0 : ::strverscmp(a.c_str(), b.c_str()) < 0;
}

std::optional<std::string> newest_match(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  if (paths.empty()) return std::nullopt;
  return *std::ranges::max_element(paths, older);
}

std::optional<fs::path> find_program(const std::string& program, const Environment& environment) {
  if (program.find('/') != std::string::npos) return fs::path(program);
  std::istringstream folders(environment.get("PATH").value_or(""));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path path = fs::path(folder) / program;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_cupti(const std::string& root) {
  for (const char* pattern : kMachinePatterns) {
    if (auto found = newest_match(root + pattern)) return found;
  }
  return std::nullopt;
}

std::optional<std::string> find_job_cupti(const std::string& program,
                                          const Environment& environment) {
  std::vector<fs::path> prefixes;
  if (const auto path = find_program(program, environment)) {
    std::error_code problem;
    const fs::path absolute = fs::absolute(*path, problem);
    prefixes.push_back(absolute.parent_path().parent_path());
  }
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const auto prefix = environment.get(variable); prefix && !prefix->empty()) {
      prefixes.emplace_back(*prefix);
    }
  }
  for (const fs::path& prefix : prefixes) {
    if (prefix.empty() || prefix == "/") continue;
    if (auto found = newest_match(prefix.string() + kEnvironmentPattern)) return found;
  }
  return std::nullopt;
}

}  // namespace hypermile
