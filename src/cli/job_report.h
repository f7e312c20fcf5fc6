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
#include "cli/live_line.h"
#include "record/event_log.h"

namespace hypermile {

struct JobOutcome;

class JobReport {
 public:
  // Both must outlive it.
  JobReport(const OptionValues& options, CommandContext& context)
      : options_(options), context_(context) {}

  // Begins the events of the run, and the file that --log names, if it does. `typed` is the command
  // line.
  Result<void> open_log(std::vector<std::string> typed);
  // The same, and shows on the terminal what they tell: `bound` is the slowdown allowed, absent
  // where nothing is changed; `shared`: the job may write to our terminal.
  Result<void> begin(std::vector<std::string> typed, std::optional<double> bound, bool shared);
  EventLog& log() { return *log_; }

  void say(const std::string& line);
  // Ends the log alone.
  void finish_log(const JobOutcome& outcome, const std::string& reason);
  // Ends the log with `reason`, and tells everything.
  void finish(const JobOutcome& outcome, const std::string& reason);

 private:
  void append(EventBody body);

  const OptionValues& options_;
  CommandContext& context_;
  std::unique_ptr<EventLog> log_;
  std::optional<LiveLine> live_;
};

}  // namespace hypermile
