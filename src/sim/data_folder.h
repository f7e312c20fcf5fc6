// SPDX-License-Identifier: Apache-2.0
//
// Reads the folders of TOML files that come with the program: gpus/ and workloads/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hypermile {

struct NamedText {
  std::string path;
  std::string text;
};

// Reads FOLDER/KEY.toml. An unknown key is kUsage with the most similar keys; `what` is "GPU" or
// "workload".
Result<NamedText> read_named_toml(std::string_view folder, std::string_view what,
                                  std::string_view key);

// Keys of the existing files, sorted; empty where the folder is missing.
std::vector<std::string> toml_keys(std::string_view folder);

}  // namespace hypermile
