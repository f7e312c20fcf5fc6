// SPDX-License-Identifier: Apache-2.0
//
// What run and attach tell of a job: lines for a person as things happen, the event log, and at the
// end a summary as text, as JSON and as a file, as the options want it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/control_options.h"
#include "record/event_log.h"
#include "run/live_line.h"
#include "run/run_page.h"

namespace hypermile {

struct JobOutcome;

class JobReport {
 public:
  // Both must outlive it.
  JobReport(const OptionValues& options, CommandContext& context)
      : options_(options),
        context_(context),
        page_(options, [this](const std::string& line) { say(line); }) {}

  // Begins the events of the run, and the file that --log names or that a report or page is made
  // from. `typed` is the command line, `choice` what is wanted of the run.
  Result<void> open_log(std::vector<std::string> typed, const ControlChoice& choice);
  // The same, and shows on the terminal what they tell. `shared`: the job may write to it, too.
  Result<void> begin(std::vector<std::string> typed, const ControlChoice& choice, bool shared);
  // The job runs: from here on the page that --serve asks for can be seen.
  void show_page() { page_.start(); }
  EventLog& log() { return *log_; }

  void say(const std::string& line);
  // Ends the log with `reason`, and what is made from it; nothing else is told.
  void finish_log(JobOutcome outcome, const std::string& reason);
  // Ends the log with `reason`, and tells everything.
  void finish(JobOutcome outcome, const std::string& reason);

 private:
  void append(EventBody body);
  // What it has written: people are shown what stands in the log.
  RunEnd append_end(JobOutcome& outcome, const std::string& reason);

  const OptionValues& options_;
  CommandContext& context_;
  std::unique_ptr<EventLog> log_;
  std::optional<LiveLine> live_;
  RunPage page_;
};

}  // namespace hypermile
