// SPDX-License-Identifier: Apache-2.0
//
// `hypermile report F.jsonl`: writes everything that an event log holds to one HTML page. Several
// logs are those of the nodes of one job, and become one table.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/terminal_text.h"
#include "cli/command.h"
#include "record/nodes_report.h"
#include "record/report_data.h"
#include "record/report_page.h"
#include "record/summary_text.h"

namespace hypermile {
namespace {

std::string page_beside(const std::string& log) {
  return std::filesystem::path(log).replace_extension(".html").string();
}

void warn_of_gaps(const LogTail& log, CommandContext& context) {
  const std::uint64_t bad = log.unreadable_lines() + (log.half_a_line() ? 1 : 0);
  if (bad == 0) return;
  context.err << fmt::format(
      "hypermile: {}: {} line{} could not be read (cut off by a crash, or written by another "
      "version); the report has everything else\n",
      log.path(), bad, bad == 1 ? "" : "s");
}

// A log is somebody's file: what it says must not steer the terminal.
void print_harmless(std::string_view text, std::ostream& out) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    out << harmless(line, line.size()) << '\n';
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
}

// The logs of a job's nodes as one: the newest run of each.
Result<void> report_nodes(const CommandArguments& arguments, CommandContext& context) {
  std::vector<LogTail> logs;
  for (const std::string& path : arguments.positional) {
    ASSIGN_OR_RETURN(LogTail log, read_log(path));
    warn_of_gaps(log, context);
    logs.push_back(std::move(log));
  }
  std::vector<NodeRun> nodes;
  for (const LogTail& log : logs) {
    if (log.runs().empty()) continue;
    const RunDigest& run = *log.runs().back();
    nodes.push_back({node_of(run, log.path()), &run});
  }
  if (arguments.options.flag("json")) {
    context.out << nodes_json(nodes).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                << "\n";
  } else {
    print_harmless(nodes_text(nodes), context.out);
  }
  return {};
}

Result<void> run_report(const CommandArguments& arguments, CommandContext& context) {
  const OptionValues& options = arguments.options;
  if (arguments.positional.empty()) {
    return Error{ErrorCode::kUsage, "no log was given", "name one: hypermile report run.jsonl"};
  }
  if (arguments.positional.size() > 1) {
    if (options.given("out")) {
      return Error{ErrorCode::kUsage, "--out: several logs become one table, not a page",
                   "name one log, or leave --out away"};
    }
    return report_nodes(arguments, context);
  }
  const std::string& path = arguments.positional.front();
  ASSIGN_OR_RETURN(const LogTail log, read_log(path));
  warn_of_gaps(log, context);
  if (options.flag("json")) {
    context.out << report_json(log).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                << "\n";
    return {};
  }
  if (options.flag("text")) {
    const bool terminal = ::isatty(STDOUT_FILENO) == 1;
    for (const auto& run : log.runs()) {
      const std::string summary = summary_text(*run);
      print_harmless(terminal ? fitted(summary) : summary, context.out);
    }
    return {};
  }
  const std::string page = options.given("out") ? options.text("out") : page_beside(path);
  RETURN_IF_ERROR(write_report(log, page));
  context.out << page << "\n";
  return {};
}

}  // namespace

const Command kReportCommand = {
    "report",
    "write a page of an event log: one HTML file with all plots and decisions",
    "LOG…",
    "  hypermile report run.jsonl                     writes run.html\n"
    "  hypermile report run.jsonl --out report.html\n"
    "  hypermile report run.jsonl --text              the summary, as the terminal showed it\n"
    "  hypermile report run.jsonl --json              the data of the page\n"
    "  hypermile report 12.0-n*.jsonl                 a job on several nodes: one table\n",
    run_report,
    /*runs_command=*/false,
    /*holds_nothing=*/true,
};

}  // namespace hypermile
