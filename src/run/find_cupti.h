// SPDX-License-Identifier: Apache-2.0
//
// Where CUPTI is on this machine. The kernel launches of a job are seen through it; without it
// iterations must come from the framework's ticks.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hypermile {

// The first libcupti.so.* in the folders where CUDA toolkits, PyTorch and pip put it, newest
// version first in each; nullopt if none. Only looks at the file system. `roots` is "/" but for
// tests.
std::optional<std::string> find_cupti(const std::string& root = "/");

}  // namespace hypermile
