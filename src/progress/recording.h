// SPDX-License-Identifier: Apache-2.0
//
// Reads recorded launch streams and the true iterations beside them: CSV, plain or compressed with
// gzip. Columns t_s and kernel, optionally blocks and stream; iterations have iter and t_s. A
// broken file is an Error with file and line.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "inject/launch.h"

namespace hypermile {

// Sorted by time; a file whose times step backwards is taken as it is and sorted.
Result<std::vector<Launch>> read_launches(const std::string& path);

// When each iteration began on the GPU.
Result<std::vector<Instant>> read_iterations(const std::string& path);

}  // namespace hypermile
