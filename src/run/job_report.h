// SPDX-License-Identifier: Apache-2.0
//
// What a run tells about a job: lines for a person as things happen, the event log, the page, and
// at the end a summary as text, as JSON and as a file, as the request wants it. watched_run.h makes
// one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/event_log.h"
#include "run/live_line.h"
#include "run/run_page.h"
#include "run/run_request.h"

namespace hypermile {

struct JobOutcome;

class JobReport {
 public:
  // `request` and what `world` refers to must outlive it.
  JobReport(const RunRequest& request, const RunWorld& world);

  // Opens the event log and writes its first event; prepares the page. `shared_terminal`: the job
  // may write to the terminal that `err` is. kUsage for a request that cannot be met.
  Result<void> begin(bool shared_terminal);
  // The job runs: from here on its page can be seen.
  void show_page() { page_.start(); }
  EventLog& log() { return *log_; }

  // One line for a person.
  void say(const std::string& line);
  // Writes the last event, with `reason`, and everything that is made from the log.
  void finish(JobOutcome outcome, const std::string& reason);

 private:
  void append(EventBody body);
  void show(const JobOutcome& outcome, const RunEnd& end);
  void remember(const JobOutcome& outcome, const RunEnd& end);

  const RunRequest& request_;
  RunWorld world_;
  std::unique_ptr<EventLog> log_;
  RunStart start_;
  std::vector<GpuIdentity> gpus_;  // that the job has used so far
  std::optional<LiveLine> live_;
  RunPage page_;
};

}  // namespace hypermile
