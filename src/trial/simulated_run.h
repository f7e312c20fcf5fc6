// SPDX-License-Identifier: Apache-2.0
//
// One simulated job on one simulated card under one policy, on the virtual rig. `simulate` and
// `demo` play their runs through it (comparison.h).
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>

#include "control/control_summary.h"
#include "record/event_log.h"
#include "trial/simulated_job.h"

namespace hypermile {

// One window as it is measured, for live lines.
struct LiveWindow {
  std::string_view policy;
  const Window& window;
  double progress = 0;     // of the job, 0 to 1
  bool exploring = false;  // a probe
};
using WindowListener = std::function<void(const LiveWindow& live)>;

struct RunHearers {
  std::unique_ptr<LineSink> sink = nullptr;      // of the event log; may be null
  std::function<void(const Event&)> event = {};  // gets every event of the log; may be empty
  WindowListener window = {};                    // may be empty
};

struct PlayedRun {
  bool interrupted = false;  // the job was cut off, so its totals mean nothing
  ControlSummary control;
};

// Plays the job to its end, or until `stop`. kUsage where the policy is refused or the job is too
// short to be measured; otherwise what the log's sink says.
//
// The log's run_end holds seconds, joules and iterations of the whole job as measured, and under
// names that begin with true_ what truth_of() says of the setting kept and of the best one; a
// decision of the policy "truth" names that best one.
Result<PlayedRun> play(const SimulatedJob& job, const Curve& truth, std::string_view policy,
                       RunHearers hearers, const std::stop_token& stop = {});

}  // namespace hypermile
