// SPDX-License-Identifier: Apache-2.0
//
// What a reader of a log must know about where it was written: host, kernel, program and the
// variables that change what a GPU or we do. Nothing secret: only named variables are taken.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "record/event.h"

namespace hypermile {

// The first event of a run, with a fresh run id (time and process, unique on one host).
RunStart describe_run(const Clock& clock, std::vector<std::string> command,
                      std::vector<GpuIdentity> gpus);

}  // namespace hypermile
