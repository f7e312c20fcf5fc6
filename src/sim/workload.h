// SPDX-License-Identifier: Apache-2.0
//
// Reads a simulated training job from its file workloads/NAME.toml or workloads/field/NAME.toml
// (docs/reference/workload-file.md). The files of the first folder are the suite.
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

// Reads the file of the job KEY. An unknown key is kUsage with the most similar keys; a broken file
// is kParse with file and line.
Result<Workload> load_workload(std::string_view key);
// Parses `text`; `file` is used in messages, and its stem is the key.
Result<Workload> parse_workload(std::string_view text, const std::string& file);
// Keys of the suite's files, sorted.
std::vector<std::string> workload_keys();
// The keys that a name stands for: "all" for the suite, "paper" for the suite's jobs after the two
// suites of GPOEO's paper, "field" for jobs that were met in the field; any other name for itself.
std::vector<std::string> workloads_named(std::string_view name);

}  // namespace hypermile
