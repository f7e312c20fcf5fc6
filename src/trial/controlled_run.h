// SPDX-License-Identifier: Apache-2.0
//
// A job in virtual time under the whole chain that a living one gets: rings, detector, sampler,
// Windows, Controller. `play_controlled` is a simulated job on a simulated GPU; the log is the same
// as play()'s, with what a Session and a Controller write besides. `replay_controlled` is a
// measured sweep as the GPU.
#pragma once

#include <memory>
#include <stop_token>
#include <string_view>

#include "control/control_summary.h"
#include "trial/judge/conditions.h"
#include "trial/judge/replay.h"
#include "trial/simulated_run.h"

namespace hypermile {

// Fails as play() does.
Result<ControlSummary> play_controlled(const SimulatedJob& job, const Curve& truth,
                                       std::string_view policy, std::unique_ptr<LineSink> sink,
                                       const std::stop_token& stop = {},
                                       const WindowListener& listener = {});

}  // namespace hypermile
