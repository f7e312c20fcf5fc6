// SPDX-License-Identifier: Apache-2.0
//
// Sets the variables that make CUDA load our library into the job's processes and tell them where
// to leave their rings. Variables that somebody else has set are left alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/environment_variables.h"

namespace hypermile {

// The path of libhypermile_inject.so: beside this program, in its ../lib, or where packages install
// it. kNotFound says where it was looked for.
Result<std::string> find_injected_library();

struct Injection {
  std::optional<std::string> library;  // without it only ticks are seen
  std::string ring_folder;
  std::optional<std::string> nvtx_step;   // name of the NVTX range that is an iteration
  std::optional<std::string> cupti = {};  // copy of CUPTI for jobs that have not loaded one yet
};

// Returns lines for a person, one for each variable that another profiler has set already.
std::vector<std::string> inject(const Injection& injection, Environment& environment);

}  // namespace hypermile
