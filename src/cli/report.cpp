// SPDX-License-Identifier: Apache-2.0
//
// `hypermile report F.jsonl`: writes everything that an event log holds to one HTML page.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/command.h"
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

Result<void> run_report(const CommandArguments& arguments, CommandContext& context) {
  const OptionValues& options = arguments.options;
  if (arguments.positional.size() != 1) {
    return Error{ErrorCode::kUsage,
                 arguments.positional.empty() ? "no log was given" : "more than one log was given",
                 "name one: hypermile report run.jsonl"};
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
    for (const auto& run : log.runs()) context.out << summary_text(*run);
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
    "LOG",
    "  hypermile report run.jsonl                     writes run.html\n"
    "  hypermile report run.jsonl --out report.html\n"
    "  hypermile report run.jsonl --text              the summary, as the terminal showed it\n"
    "  hypermile report run.jsonl --json              the data of the page\n",
    run_report,
};

}  // namespace hypermile
