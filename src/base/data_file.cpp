// SPDX-License-Identifier: Apache-2.0
#include "base/data_file.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace hypermile {

Result<std::string> find_data_file(std::string_view relative) {
  namespace fs = std::filesystem;
  std::vector<fs::path> roots;
  if (const char* data = std::getenv("HYPERMILE_DATA")) roots.emplace_back(data);
  std::error_code problem;
  const fs::path program = fs::read_symlink("/proc/self/exe", problem);
  if (!problem) {
    const fs::path folder = program.parent_path();
    roots.push_back(folder.parent_path() / "share" / "hypermile");
    // build/bin, and build/PRESET/bin for other presets.
    roots.push_back(folder.parent_path().parent_path());
    roots.push_back(folder.parent_path().parent_path().parent_path());
  }
  for (const fs::path& root : roots) {
    const fs::path path = root / relative;
    if (fs::exists(path, problem)) return path.string();
  }
  return Error{ErrorCode::kNotFound, "the data file " + std::string(relative) + " was not found",
               "set HYPERMILE_DATA to the folder that holds hypermile's data"};
}

}  // namespace hypermile
