// SPDX-License-Identifier: Apache-2.0
#include "base/data_file.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace hypermile {
namespace {

constexpr int kMostLevels = 6;

// The shared library that this code was linked into, if there is one (another program may have
// loaded it); else the program itself.
std::string own_file() {
  Dl_info info{};
  static const char kMarker = 0;
  if (dladdr(&kMarker, &info) != 0 && info.dli_fname != nullptr &&
      std::string_view(info.dli_fname).find(".so") != std::string_view::npos) {
    return info.dli_fname;
  }
  return "/proc/self/exe";
}

}  // namespace

Result<std::string> find_data_file(std::string_view relative) {
  namespace fs = std::filesystem;
  std::vector<fs::path> roots;
  if (const char* data = std::getenv("HYPERMILE_DATA")) roots.emplace_back(data);
  std::error_code problem;
  // A built program lies in build/PRESET/bin and a built library in build/PRESET/lib/nvmlsim, with
  // the source tree above them; an installed one lies in PREFIX/bin or PREFIX/lib, beside
  // PREFIX/share.
  fs::path folder = fs::weakly_canonical(own_file(), problem);
  for (int level = 0; level < kMostLevels && folder.has_relative_path(); ++level) {
    folder = folder.parent_path();
    roots.push_back(folder / "share" / "hypermile");
    roots.push_back(folder);
  }
  for (const fs::path& root : roots) {
    const fs::path path = root / relative;
    if (fs::exists(path, problem)) return path.string();
  }
  return Error{ErrorCode::kNotFound, "the data file " + std::string(relative) + " was not found",
               "set HYPERMILE_DATA to the folder that holds hypermile's data"};
}

}  // namespace hypermile
