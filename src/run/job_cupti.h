// SPDX-License-Identifier: Apache-2.0
//
// Which copy of CUPTI belongs to the job. A framework that loads CUPTI after us expects its own
// copy, the one that pip put beside it, so that one is named to the injected library.
#pragma once

#include <optional>
#include <string>

#include "run/environment.h"

namespace hypermile {

// The newest libcupti.so.* of the Python environment that `program` (as typed, looked for in the
// job's PATH) lives in, or of the active virtual or conda environment. nullopt: the library finds
// one itself. Only looks at the file system.
std::optional<std::string> find_job_cupti(const std::string& program,
                                          const Environment& environment);

}  // namespace hypermile
