// SPDX-License-Identifier: Apache-2.0
//
// Tells a listener of the Windows that go by on their way to a log, for live lines of runs that the
// Controller plays.
#pragma once

#include <memory>
#include <string_view>

#include "record/event_log.h"
#include "trial/simulated_run.h"

namespace hypermile {

// `job` and `listener` must outlive it.
std::unique_ptr<LineSink> tap_windows(std::unique_ptr<LineSink> sink, const SimulatedJob& job,
                                      std::string_view policy, const WindowListener& listener);

}  // namespace hypermile
