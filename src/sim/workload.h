// SPDX-License-Identifier: Apache-2.0
//
// Reads a simulated training job from its file workloads/NAME.toml
// (docs/reference/workload-file.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/load.h"

namespace hypermile {

struct Workload {
  std::string key;                // "resnet50", the file's stem
  std::string title;              // "ResNet50, ImageNet, bf16, batch 256"
  std::string family;             // "cnn", "transformer", "gnn", …; free text
  std::vector<std::string> tags;  // free text, for selecting groups
  std::uint64_t iterations = 0;   // length of the job in training iterations; 0: endless
  Load load;
};

// Reads workloads/KEY.toml. An unknown key is kUsage with the most similar keys; a broken file is
// kParse with file and line.
Result<Workload> load_workload(std::string_view key);
// Parses `text`; `file` is used in messages, and its stem is the key.
Result<Workload> parse_workload(std::string_view text, const std::string& file);
// Keys of the existing workload files, sorted.
std::vector<std::string> workload_keys();

}  // namespace hypermile
