// SPDX-License-Identifier: Apache-2.0
//
// The first and last events in the log of a simulated run: the job and its policy; what the job
// took, and what the simulator knows to be true of the setting kept and of the best one.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "record/event_log.h"
#include "trial/simulated_job.h"

namespace hypermile {

Result<void> log_start(EventLog& log, const SimulatedJob& job, std::string_view policy,
                       const GpuIdentity& gpu, const Clock& clock);

// The whole job as measured, by the clock and the card's energy counter.
struct PlayedTotals {
  Seconds elapsed;
  double iterations = 0;
  std::optional<Joules> energy;
  bool interrupted = false;
  std::vector<SettingShare> kept;  // at the end: one Setting, or a mix
};
Result<void> log_end(EventLog& log, const SimulatedJob& job, const Curve& truth, const GpuUuid& gpu,
                     const PlayedTotals& totals);

}  // namespace hypermile
