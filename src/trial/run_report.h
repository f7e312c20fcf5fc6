// SPDX-License-Identifier: Apache-2.0
//
// What came of a simulated run, from the event logs of that run and of a run of the same job at the
// default: the whole job against the default run, the default and the kept setting with their
// errors, the best that was possible, and whether the bound was kept. `simulate` and `demo` show
// it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/event.h"
#include "record/run_figures.h"
#include "trial/judge/replay.h"

namespace hypermile {

struct SimulatedOutcome {
  RunResult result;                     // the same figures as a replayed run has
  JobTotals job;                        // the whole job against the run at the default
  std::optional<SettingCost> baseline;  // one iteration at the default
  std::optional<SettingCost> kept;      // one iteration at the kept setting
  Setting best;                         // the setting that is truly best
  double best_slowdown = 0;
  double best_energy_change = 0;  // -0.1: 10 % less energy than at the default
  std::optional<double> bound;
  std::optional<double> settled_s;  // from the start until a setting was first held
  std::size_t windows = 0;
  std::size_t throttled_windows = 0;  // throttled in more than half of their samples
  std::size_t unusable_windows = 0;
};

// `run` and `default_run` are the events of one run each, from start to end. kParse if one of them
// was cut off.
Result<SimulatedOutcome> report_run(std::span<const Event> run, std::span<const Event> default_run);

}  // namespace hypermile
