// SPDX-License-Identifier: Apache-2.0
//
// What one run is to do, as plain values. src/cli fills them from the options of run, attach and
// sweep; run_job.h, attach_job.h and dry_run.h take them. Nothing here knows of a command line.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/tariff.h"
#include "control/controller_options.h"
#include "run/stop_signals.h"
#include "trial/sweeping/sweep_course.h"

namespace hypermile {

// A sweep steers the clocks in the policy's place.
struct SweepRequest {
  SweepCourse* course = nullptr;                        // must outlive the run
  std::function<void(const SweepProgress&)> show = {};  // called once a second
  // Send SIGTERM to the job once the sweep is complete; otherwise it runs on at the default.
  bool end_job = false;
};

struct ControlRequest {
  bool observe = false;  // change no clocks
  // Makes the policies of a job on several nodes (nodes/seat.h). Empty: this run decides alone.
  decltype(ControllerParts::make_policy) joint = {};
  ControllerOptions controller = {};
  std::optional<std::string> cache = {};  // file that remembers jobs; absent: nothing is remembered
  bool counters = false;                  // read performance counters while features are collected
  std::optional<std::string> model = {};  // file of the predictor; absent: the installed one
  std::optional<SweepRequest> sweep = {};
};

// What is reported about a run, and where.
struct ReportRequest {
  std::optional<std::string> log = {};    // event log to append to
  std::optional<std::string> page = {};   // HTML report to write when the run has ended
  std::optional<std::string> serve = {};  // ADDR:PORT of the page shown while the job runs
  // File with the token that a client of that page must show; see read_token_file().
  std::optional<std::string> token_file = {};
  std::optional<std::string> summary = {};  // file for the summary as JSON
  Tariff tariff = {};                       // what a kWh costs and emits, where it is known
  std::optional<std::string> history = {};  // file that remembers this run; absent: it is forgotten
  bool json = false;                        // print the summary as JSON on `out`
  bool quiet = false;                       // no live line and no summary on `err`
  bool live = false;  // renew the live line in place, even where the job writes to the terminal
  // The live line and the summary are shown. A sweep shows a bar and a table of its own instead.
  bool show_run = true;
  std::function<void(const std::string&)> say = {};  // one line for a person; empty: on `err`
};

struct RunRequest {
  std::string program;                        // "hypermile run", as `hypermile leases` shows it
  std::vector<std::string> typed = {};        // the command line, for the event log
  std::optional<std::string> gpu = {};        // the GPU to watch, as typed; absent: the job's own
  std::optional<std::string> nvtx_step = {};  // name of the NVTX range that is one iteration
  ControlRequest control = {};
  ReportRequest report = {};
};

// The process that a run is part of.
struct RunWorld {
  std::ostream& out;      // results
  std::ostream& err;      // progress, warnings
  bool terminal = false;  // `err` is a terminal
  Clock& clock;
  std::stop_token stop;            // requested by SIGINT, SIGTERM and SIGHUP
  StopSignals* signals = nullptr;  // a started job takes the signals over; null in tests
};

}  // namespace hypermile
