// SPDX-License-Identifier: Apache-2.0
//
// Where CUPTI is. The kernel launches of a job are seen through it; without it iterations must come
// from the framework's ticks. Both functions only look at the file system and return the copy with
// the highest version number.
#pragma once

#include <optional>
#include <string>

#include "run/environment_variables.h"

namespace hypermile {

// A copy for this machine, from the folders where CUDA toolkits, PyTorch and pip put it; toolkits
// come first. nullopt if there is none. `root` is "/" except in tests.
std::optional<std::string> find_cupti(const std::string& root = "/");

// The copy that belongs to a job: of the Python environment that `program` (as typed, looked for in
// the job's PATH) lives in, else of the active virtual or conda environment. A framework that loads
// CUPTI after us expects this copy. nullopt: the injected library finds one itself.
std::optional<std::string> find_job_cupti(const std::string& program,
                                          const Environment& environment);

}  // namespace hypermile
