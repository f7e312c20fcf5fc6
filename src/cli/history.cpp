// SPDX-License-Identifier: Apache-2.0
//
// `hypermile history [RUN]`: the runs that are remembered (record/history.h), as a list, one of
// them, or all as JSON or CSV.
#include "cli/history.h"
#include "base/terminal_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "base/parse.h"
#include "cli/command.h"
#include "record/figures_text.h"
#include "record/log_tail.h"

namespace hypermile {
namespace {

constexpr std::size_t kCommandWidth = 22;  // of 80 columns

std::string change_cell(const std::optional<double>& change, double sign) {
  return change ? fmt::format("{:.1f} %", 100 * sign * *change) : "-";
}

std::string number_cell(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

// Cut between characters, never within one.
std::string cut_cell(const std::string& text, std::size_t width) {
  return columns(text) <= width ? text : harmless(text, width - 1) + "~";
}

// What a file says must not steer the terminal.
std::string safe_cell(const std::string& text) {
  return harmless(text, text.size());
}

void print_list(const History& history, long long last, std::ostream& out) {
  const std::size_t count = history.runs.size();
  const std::size_t from = count - std::min<std::size_t>(count, static_cast<std::size_t>(last));
  out << fmt::format("{:>4} {:<16} {:>8} {:>9} {:>8} {:>7} {}\n", "", "began", "seconds", "kWh",
                     "saved", "slower", "job");
  for (std::size_t i = from; i < count; ++i) {
    const RememberedRun& run = history.runs[i];
    out << fmt::format("{:>4} {:<16} {:>8} {:>9} {:>8} {:>7} {}\n", i + 1, when(run.unix_time),
                       number_cell(run.figure("seconds"), 0), number_cell(run.figure("kwh"), 4),
                       change_cell(run.figure("energy_change"), -1),
                       change_cell(run.figure("time_change"), 1),
                       cut_cell(safe_cell(run.command), kCommandWidth));
  }
  if (from > 0) out << fmt::format("{} earlier; --last {} shows all\n", from, count);
}

void print_run(const RememberedRun& run, std::ostream& out) {
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) out << fmt::format("{:<10} {}\n", name, safe_cell(value));
  };
  line("run", run.run);
  line("began", when(run.unix_time));
  line("job", fmt::format("{} ({})", run.command, run.job));
  line("host", run.host);
  line("GPUs", fmt::format("{}", fmt::join(run.gpus, ", ")));
  if (run.simulated) line("kind", "simulated, not measured on a GPU");
  line("policy", run.policy);
  line("kept", run.kept);
  line("ended", run.exit_code ? fmt::format("with exit code {}", *run.exit_code) : "cut off");
  line("took", number_cell(run.figure("seconds"), 1) + " s");
  for (const char* text : {"text", "bill_text"}) {
    const auto found = run.figures.find(text);
    if (found != run.figures.end() && found->is_string()) line("", found->get<std::string>());
  }
  line("log", run.log);
}

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\n\r") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

constexpr const char* kFigures[] = {"seconds", "iterations", "joules",        "kwh",
                                    "saved_j", "lost_s",     "energy_change", "time_change",
                                    "cost",    "co2e_g",     "host_joules"};

void print_csv(const History& history, std::ostream& out) {
  out << "run,unix_time,host,job,command,gpus,policy,kept,simulated,exit_code,"
      << fmt::format("{}", fmt::join(kFigures, ",")) << ",currency\n";
  for (const RememberedRun& run : history.runs) {
    out << fmt::format("{},{:.3f},{},{},{},{},{},{},{},{}", quoted(run.run), run.unix_time,
                       quoted(run.host), run.job, quoted(run.command),
                       quoted(fmt::format("{}", fmt::join(run.gpus, ";"))), quoted(run.policy),
                       quoted(run.kept), run.simulated ? "true" : "false",
                       run.exit_code ? fmt::format("{}", *run.exit_code) : "");
    for (const char* name : kFigures) {
      const auto value = run.figure(name);
      out << "," << (value ? fmt::format("{}", *value) : "");
    }
    out << "," << quoted(run.figures.value("currency", "")) << "\n";
  }
}

Result<void> run_history(const CommandArguments& arguments, CommandContext& context) {
  const OptionValues& options = arguments.options;
  if (arguments.positional.size() > 1) {
    return Error{ErrorCode::kUsage, "more than one run was named", "see 'hypermile compare A B'"};
  }
  ASSIGN_OR_RETURN(const History history, open_history(options));
  if (history.unreadable > 0) {
    context.err << fmt::format("hypermile: {} line{} of the history could not be read\n",
                               history.unreadable, history.unreadable == 1 ? "" : "s");
  }
  if (!arguments.positional.empty()) {
    ASSIGN_OR_RETURN(const RememberedRun run, find_run(arguments.positional.front(), history));
    if (options.flag("json")) {
      context.out << to_json(run).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                  << "\n";
    } else {
      print_run(run, context.out);
    }
    return {};
  }
  if (options.flag("json")) {
    nlohmann::json runs = nlohmann::json::array();
    for (const RememberedRun& run : history.runs) runs.push_back(to_json(run));
    context.out << nlohmann::json{{"runs", std::move(runs)}}.dump() << "\n";
  } else if (options.flag("csv")) {
    print_csv(history, context.out);
  } else if (history.runs.empty()) {
    context.out << "no run is remembered yet: 'hypermile run' and 'attach' remember theirs\n";
  } else {
    print_list(history, options.integer("last"), context.out);
  }
  return {};
}

}  // namespace

std::string when(double unix_time) {
  return date_text(unix_time, DatePlace::kHere);
}

Result<History> open_history(const OptionValues& options) {
  const std::string text = options.text("history");
  const auto path = text == "default" ? default_history_path() : std::optional(text);
  if (!path) {
    return Error{ErrorCode::kNotFound, "there is no home folder with a history",
                 "name its file with --history"};
  }
  return read_history(*path);
}

Result<RememberedRun> find_run(const std::string& name, const History& history) {
  if (const auto number = parse_integer(name)) {
    if (*number >= 1 && *number <= static_cast<long long>(history.runs.size())) {
      return history.runs[static_cast<std::size_t>(*number - 1)];
    }
    return Error{ErrorCode::kNotFound,
                 fmt::format("there is no run {}: the history has {}", name, history.runs.size()),
                 "see 'hypermile history'"};
  }
  const auto found = std::ranges::find(history.runs, name, &RememberedRun::run);
  if (found != history.runs.end()) return *found;
  if (!std::filesystem::exists(name)) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("'{}' is neither a run of the history nor an event log", name),
                 "see 'hypermile history'"};
  }
  ASSIGN_OR_RETURN(const LogTail log, read_log(name));
  if (log.runs().empty()) return Error{ErrorCode::kParse, name + ": no run is in this log"};
  return remembered(*log.runs().back(), "", name);
}

const Command kHistoryCommand = {
    "history",
    "list the runs that are remembered, show one, or export them",
    "RUN",
    "  hypermile history                              the last 20 runs\n"
    "  hypermile history 7                            all that is known of run 7\n"
    "  hypermile history --csv > runs.csv             for a spreadsheet\n"
    "  hypermile history --json\n",
    run_history,
    /*runs_command=*/false,
    /*holds_nothing=*/true,
};

}  // namespace hypermile
