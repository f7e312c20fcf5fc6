// SPDX-License-Identifier: Apache-2.0
//
// What is known of a job when its run is over: run_job.h and attach_job.h return it, job_report.h
// shows it.
#pragma once

#include <optional>

#include "control/control_text.h"
#include "control/run_summary.h"

namespace hypermile {

struct JobOutcome {
  RunSummary summary;
  Objective objective = {};
  std::optional<ControlOutcome> control = {};  // absent where the run only observed
  // What such a card could save; set only where `control` is absent.
  std::optional<Expectation> expected = {};
};

}  // namespace hypermile
