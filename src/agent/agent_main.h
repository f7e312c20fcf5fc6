// SPDX-License-Identifier: Apache-2.0
//
// The program hypermile-agent: one process for each node and job step, as the job's user. It
// prepares what makes the ranks visible, follows them as `hypermile run` follows a job
// (run/watched_run.h), and decides about their clocks together with the agents of the step's other
// nodes. It ends when its standard input does; the process that started it holds that open while
// the ranks run. Nothing that fails here reaches the job.
#pragma once

#include <string>
#include <vector>

#include "run/stop_signals.h"

namespace hypermile {

int agent_main(const std::vector<std::string>& arguments, StopSignals& signals);

}  // namespace hypermile
