// SPDX-License-Identifier: Apache-2.0
//
// Reads recorded launch streams and files of true iterations: CSV, plain or compressed with gzip.
// Launches have the columns t_s and kernel, optionally blocks and stream; iterations have iter and
// t_s. A broken file gives an Error with file and line.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "inject/launch.h"

namespace hypermile {

// Sorts the launches by time; the file need not be sorted.
Result<std::vector<Launch>> read_launches(const std::string& path);

// When each iteration began on the GPU.
Result<std::vector<Instant>> read_iterations(const std::string& path);

}  // namespace hypermile
