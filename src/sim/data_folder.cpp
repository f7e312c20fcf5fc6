// SPDX-License-Identifier: Apache-2.0
#include "sim/data_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/data_file.h"
#include "base/nearest.h"
#include "base/whole_file.h"

namespace hypermile {

std::vector<std::string> toml_keys(std::string_view folder) {
  std::vector<std::string> keys;
  const Result<std::string> path = find_data_file(folder);
  if (!path) return keys;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(*path, problem)) {
    if (entry.path().extension() == ".toml") keys.push_back(entry.path().stem().string());
  }
  std::ranges::sort(keys);
  return keys;
}

Result<NamedText> read_named_toml(std::string_view folder, std::string_view what,
                                  std::string_view key) {
  ASSIGN_OR_RETURN(const std::string root, find_data_file(folder));
  const std::vector<std::string> keys = toml_keys(folder);
  if (std::ranges::find(keys, key) == keys.end()) {
    return Error{ErrorCode::kUsage, fmt::format("there is no simulated {} named {}", what, key),
                 suggestion(key, keys)};
  }
  const std::string path = (std::filesystem::path(root) / (std::string(key) + ".toml")).string();
  auto text = read_whole_file(path);
  if (!text) return Error{ErrorCode::kIo, path + " cannot be read", "check its permissions"};
  return NamedText{path, *std::move(text)};
}

}  // namespace hypermile
