// SPDX-License-Identifier: Apache-2.0
//
// The first and last events of a simulated run's log, whoever plays it: what was asked, what it
// cost, and what the simulator knows to be true of the Setting kept and of the best one.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "record/event_log.h"
#include "trial/simulated_run.h"

namespace hypermile {

Result<void> log_start(EventLog& log, const SimulatedJob& job, std::string_view policy,
                       const GpuIdentity& gpu, const Clock& clock);

struct PlayedTotals {
  Seconds elapsed;
  double iterations = 0;
  std::optional<Joules> energy;
  bool interrupted = false;
  Setting kept;
};
Result<void> log_end(EventLog& log, const SimulatedJob& job, const Curve& truth, const GpuUuid& gpu,
                     const PlayedTotals& totals);

}  // namespace hypermile
