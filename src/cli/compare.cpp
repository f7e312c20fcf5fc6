// SPDX-License-Identifier: Apache-2.0
//
// `hypermile compare A B`: two runs side by side, of the history or from event logs. It says where
// they are not the same job on the same GPUs, as a difference then means little.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "base/terminal_text.h"
#include "cli/command.h"
#include "cli/history.h"

namespace hypermile {
namespace {

struct Row {
  std::string name, unit;
  std::optional<double> a, b;
  int digits = 1;
};

std::optional<double> ratio(const RememberedRun& run, const char* what, const char* by) {
  const auto top = run.figure(what), bottom = run.figure(by);
  if (!top || !bottom || *bottom <= 0) return std::nullopt;
  return *top / *bottom;
}

// Seconds as milliseconds.
std::optional<double> in_ms(const std::optional<double>& seconds) {
  return seconds ? std::optional(1e3 * *seconds) : std::nullopt;
}

// "" where the two runs were priced in different ones.
std::string currency(const RememberedRun& a, const RememberedRun& b) {
  const std::string one = a.figures.value("currency", ""), other = b.figures.value("currency", "");
  return one == other || other.empty() ? one : one.empty() ? other : "";
}

std::vector<Row> rows(const RememberedRun& a, const RememberedRun& b) {
  const auto both = [&](const char* name, const std::string& unit, const char* key, double scale,
                        int digits) {
    const auto of = [&](const RememberedRun& run) {
      const auto value = run.figure(key);
      return value ? std::optional(scale * *value) : std::nullopt;
    };
    return Row{name, unit, of(a), of(b), digits};
  };
  return {both("time", "s", "seconds", 1, 1),
          both("iterations", "", "iterations", 1, 0),
          both("energy of the GPUs", "J", "joules", 1, 0),
          {"time an iteration", "ms", in_ms(ratio(a, "seconds", "iterations")),
           in_ms(ratio(b, "seconds", "iterations")), 3},
          {"energy an iteration", "J", ratio(a, "joules", "iterations"),
           ratio(b, "joules", "iterations"), 3},
          both("energy saved", "%", "energy_change", -100, 2),
          both("time lost", "%", "time_change", 100, 2),
          both("cost", currency(a, b), "cost", 1, 4),
          both("emitted", "g CO2e", "co2e_g", 1, 2)};
}

// The reasons why one run does not repeat the other.
std::vector<std::string> differences(const RememberedRun& a, const RememberedRun& b) {
  std::vector<std::string> found;
  if (a.command != b.command) found.emplace_back("the jobs are not the same command");
  if (a.gpus != b.gpus) found.emplace_back("the GPUs are not the same");
  if (a.simulated != b.simulated) found.emplace_back("one is simulated, the other measured");
  return found;
}

Result<void> run_compare(const CommandArguments& arguments, CommandContext& context) {
  if (arguments.positional.size() != 2) {
    return Error{ErrorCode::kUsage, "two runs are compared",
                 "name them: hypermile compare 6 7, or two event logs"};
  }
  ASSIGN_OR_RETURN(const History history, open_history(arguments.options));
  ASSIGN_OR_RETURN(const RememberedRun a, find_run(arguments.positional[0], history));
  ASSIGN_OR_RETURN(const RememberedRun b, find_run(arguments.positional[1], history));
  const std::vector<std::string> notes = differences(a, b);
  if (arguments.options.flag("json")) {
    nlohmann::json table = nlohmann::json::array();
    for (const Row& row : rows(a, b)) {
      nlohmann::json j = {{"name", row.name}, {"unit", row.unit}};
      if (row.a) j["a"] = *row.a;
      if (row.b) j["b"] = *row.b;
      table.push_back(std::move(j));
    }
    context.out << nlohmann::json{{"a", to_json(a)},
                                  {"b", to_json(b)},
                                  {"figures", std::move(table)},
                                  {"notes", notes}}
                       .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                << "\n";
    return {};
  }
  const auto safe = [](const std::string& text) { return harmless(text, text.size()); };
  const auto named = [&](char name, const RememberedRun& run) {
    constexpr std::size_t kColumn = 3;
    const std::string text =
        fmt::format("{}, {}, kept {}", safe(run.command), when(run.unix_time), safe(run.kept));
    return fmt::format("{}: {}\n", name, wrapped(text, kColumn, kColumn));
  };
  context.out << named('A', a) << named('B', b) << "\n";
  context.out << fmt::format("{:<28} {:>14} {:>14} {:>10}\n", "", "A", "B", "change");
  for (const Row& row : rows(a, b)) {
    if (!row.a && !row.b) continue;
    const auto text = [&](const std::optional<double>& value) {
      return value ? fmt::format("{:.{}f}", *value, row.digits) : "-";
    };
    const bool change = row.a && row.b && row.unit != "%" && std::abs(*row.a) > 0;
    context.out << fmt::format(
        "{:<28} {:>14} {:>14} {:>10}\n",
        row.unit.empty() ? row.name : fmt::format("{}, {}", row.name, row.unit), text(row.a),
        text(row.b), change ? fmt::format("{:+.1f} %", 100 * (*row.b / *row.a - 1)) : "");
  }
  for (const std::string& note : notes) context.out << "note: " << note << "\n";
  return {};
}

}  // namespace

const Command kCompareCommand = {
    "compare",
    "put two runs side by side: of the history, or from event logs",
    "RUNS",
    "  hypermile compare 6 7                          numbers as 'hypermile history' has them\n"
    "  hypermile compare before.jsonl after.jsonl\n"
    "  hypermile compare 6 7 --json\n",
    run_compare,
    /*runs_command=*/false,
    /*holds_nothing=*/true,
};

}  // namespace hypermile
