// SPDX-License-Identifier: Apache-2.0
//
// `hypermile statement LOG…`: what a training has used, for a model card or an auditor, from the
// event logs of its runs (record/statement.h), as Markdown or JSON.
#include "record/statement.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "base/whole_file.h"
#include "cli/command.h"
#include "cli/run_options.h"

namespace hypermile {
namespace {

Result<void> run_statement(const CommandArguments& arguments, CommandContext& context) {
  const OptionValues& options = arguments.options;
  if (arguments.positional.empty()) {
    return Error{ErrorCode::kUsage, "no log was given",
                 "name the logs of every run: hypermile statement run1.jsonl run2.jsonl"};
  }
  ASSIGN_OR_RETURN(const Tariff tariff, read_tariff(options));
  std::vector<LogTail> logs;
  for (const std::string& path : arguments.positional) {
    ASSIGN_OR_RETURN(LogTail log, read_log(path));
    if (log.runs().empty()) {
      return Error{ErrorCode::kParse, path + ": no run is in this log", "name event logs of runs"};
    }
    logs.push_back(std::move(log));
  }
  const EnergyStatement statement = make_statement(logs, tariff);
  const std::string text =
      options.flag("json") ? to_json(statement).dump(1) + "\n" : to_markdown(statement);
  if (!options.given("out")) {
    context.out << text;
    return {};
  }
  RETURN_IF_ERROR(write_whole_file(options.text("out"), text));
  context.out << options.text("out") << "\n";
  return {};
}

}  // namespace

const Command kStatementCommand = {
    "statement",
    "state what a training has used, for a model card or an auditor, from its event logs",
    "LOGS",
    "  hypermile statement run.jsonl                  Markdown on stdout\n"
    "  hypermile statement node*.jsonl --carbon FR --out ENERGY.md\n"
    "  hypermile statement run.jsonl --json\n",
    run_statement,
};

}  // namespace hypermile
