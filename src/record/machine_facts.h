// SPDX-License-Identifier: Apache-2.0
//
// The facts about a machine that a reader of its log needs: host, kernel, program, and the
// environment variables that change what the GPU or hypermile does. Only the variables named in
// machine_facts.cpp are read, so no secrets enter the log. Commands that write a log call it.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "record/event.h"

namespace hypermile {

// The first event of a run, with a new run id made of time and process number, unique on one host.
RunStart describe_run(const Clock& clock, std::vector<std::string> command,
                      std::vector<GpuIdentity> gpus);

}  // namespace hypermile
