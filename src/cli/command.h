// SPDX-License-Identifier: Apache-2.0
//
// What a subcommand is: a name, help with examples, and a function that takes options. Each
// subcommand is one file; cli.cpp lists them.
#pragma once

#include <iosfwd>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/job_end.h"
#include "base/result.h"
#include "cli/options.h"

namespace hypermile {

class StopSignals;

// What shells report of a program that SIGINT ended.
inline constexpr int kInterrupted = 130;

// The process around a command; tests put their own streams and clock here.
struct CommandContext {
  std::ostream& out;      // results
  std::ostream& err;      // progress, warnings, errors
  bool terminal = false;  // err is a terminal: live lines make sense
  Clock& clock;
  std::stop_token stop;  // requested by SIGINT, SIGTERM and SIGHUP
  // A command that starts a job takes the signals over and passes them on to it; null in tests.
  StopSignals* signals = nullptr;
  // How the job that the command ran has ended; hypermile ends in the same way.
  std::optional<JobEnd> job_end = {};
};

struct CommandArguments {
  OptionValues options;
  std::vector<std::string> positional;
};

struct Command {
  std::string_view name;
  std::string_view summary;     // one line
  std::string_view positional;  // name of the positional arguments in help; "" if there are none
  std::string_view examples;    // lines for --help
  Result<void> (*run)(const CommandArguments& arguments, CommandContext& context);
  bool runs_command = false;   // takes a command after --, as its positional arguments
  bool holds_nothing = false;  // it only reads and computes: a signal ends it at once
};

extern const Command kDoctorCommand;
extern const Command kMonitorCommand;
extern const Command kCompareCommand;
extern const Command kCountersCommand;
extern const Command kRunCommand;
extern const Command kAttachCommand;
extern const Command kDetectCommand;
extern const Command kDemoCommand;
extern const Command kEvaluateCommand;
extern const Command kHistoryCommand;
extern const Command kLearnCommand;
extern const Command kLeasesCommand;
extern const Command kListCommand;
extern const Command kPlanCommand;
extern const Command kPredictCommand;
extern const Command kReportCommand;
extern const Command kResetCommand;
extern const Command kServeCommand;
extern const Command kSimulateCommand;
extern const Command kStatementCommand;
extern const Command kSweepCommand;

}  // namespace hypermile
