// SPDX-License-Identifier: Apache-2.0
//
// What the event log of simulated runs says: baseline and Setting kept with their errors, the whole
// job against a default run of the same job, the best that was possible, and whether the bound was
// kept. Made from the log alone.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/event.h"
#include "record/setting_summary.h"
#include "trial/judge/replay.h"

namespace hypermile {

struct SimulatedOutcome {
  RunResult result;                        // the same figures as a replayed run has
  std::optional<SettingSummary> baseline;  // Windows at the default
  std::optional<SettingSummary> kept;      // Windows at the Setting kept
  double seconds = 0;                      // of the whole job, as measured
  double joules = 0;
  double default_seconds = 0;  // of the default run
  double default_joules = 0;
  Setting best;  // the true best
  double best_slowdown = 0;
  double best_energy_change = 0;  // its energy against the default's; negative is less
  std::optional<double> bound;
  std::optional<double> settled_s;  // from the start until a Setting was first held
  std::size_t windows = 0;
  std::size_t throttled_windows = 0;  // with throttling in more than half of their samples
  std::size_t unusable_windows = 0;
};

// The events of a log's text, in order; kParse for a line that is none.
Result<std::vector<Event>> parse_events(std::string_view text);

// `run` and `default_run` are the events of one run each, start to end. kParse if one was cut off.
Result<SimulatedOutcome> report_run(std::span<const Event> run, std::span<const Event> default_run);

}  // namespace hypermile
