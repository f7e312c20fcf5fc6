// SPDX-License-Identifier: Apache-2.0
#include "run/job_cupti.h"

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

constexpr const char* kPattern = "/lib/python3*/*-packages/nvidia/*/lib/libcupti.so.[0-9]*";

std::optional<fs::path> find_program(const std::string& program, const Environment& environment) {
  if (program.find('/') != std::string::npos) return fs::path(program);
  std::istringstream folders(environment.get("PATH").value_or(""));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path path = fs::path(folder) / program;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return std::nullopt;
}

// Of CUDA 13 before CUDA 12 before 9: by number, not by text.
std::optional<std::string> newest_below(const fs::path& prefix) {
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob((prefix.string() + kPattern).c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  if (paths.empty()) return std::nullopt;
  return *std::ranges::max_element(paths, [](const fs::path& a, const fs::path& b) {
    return ::strverscmp(a.filename().c_str(), b.filename().c_str()) < 0;
  });
}

}  // namespace

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
    if (const auto found = newest_below(prefix)) return found;
  }
  return std::nullopt;
}

}  // namespace hypermile
