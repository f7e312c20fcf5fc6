// SPDX-License-Identifier: Apache-2.0
//
// What run and attach have in common: a Session beside a job that runs, with a Controller where
// clocks may be changed, until the job ends. Every GPU is given back before it returns, whatever
// went wrong on the way.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/control_options.h"
#include "control/control_text.h"
#include "control/run_summary.h"
#include "inject/ring_folder.h"
#include "run/clock_access.h"
#include "run/environment.h"
#include "run/job_report.h"

namespace hypermile {

struct JobToWatch {
  RingFolder& folder;
  const Environment& environment;  // the job's
  std::stop_token ended;
  std::string program;                // what `hypermile leases` shows
  std::vector<DeviceName> gpus = {};  // watched whatever the processes say
};

struct JobOutcome {
  RunSummary summary;
  Objective objective = {};
  std::optional<ControlOutcome> control = {};  // absent where only observing was asked for
  std::optional<Expectation> expected = {};    // then
};

// `access` counts unless the choice is to observe.
JobOutcome watch_job(const JobToWatch& job, const ControlChoice& choice, ClockAccess access,
                     const OptionValues& options, CommandContext& context, JobReport& report);

}  // namespace hypermile
