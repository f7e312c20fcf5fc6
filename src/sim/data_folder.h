// SPDX-License-Identifier: Apache-2.0
//
// Folders of TOML files that come with the program: gpus/ and workloads/.
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

// FOLDER/KEY.toml. An unknown key is kUsage with the nearest there are; `what` is "GPU" or
// "workload".
Result<NamedText> read_named_toml(std::string_view folder, std::string_view what,
                                  std::string_view key);

// Keys of the files that are there, sorted; empty where the folder is not found.
std::vector<std::string> toml_keys(std::string_view folder);

}  // namespace hypermile
