// SPDX-License-Identifier: Apache-2.0
//
// What a job's environment must hold so that CUDA loads our library into its processes and they
// leave their rings where we look. What somebody else has set there is left alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/environment_variables.h"

namespace hypermile {

// libhypermile_inject.so: beside this program, in ../lib of it, or where it is installed.
// kNotFound says where it was looked for.
Result<std::string> find_injected_library();

struct Injection {
  std::optional<std::string> library;  // without it only ticks are heard
  std::string ring_folder;
  std::optional<std::string> nvtx_step;   // name of the NVTX range that is an iteration
  std::optional<std::string> cupti = {};  // the copy to use where none is loaded yet
};

// Returns what a person should know, one line each: a profiler is named there already.
std::vector<std::string> inject(const Injection& injection, Environment& environment);

}  // namespace hypermile
