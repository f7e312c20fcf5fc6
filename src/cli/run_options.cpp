// SPDX-License-Identifier: Apache-2.0
#include "cli/run_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "cli/judging_options.h"
#include "control/job_cache.h"
#include "policy/policies.h"
#include "record/history.h"

namespace hypermile {
namespace {

// The one policy to follow. The oracle cannot be followed: it must know the truth beforehand.
Result<std::string> read_policy(const OptionValues& values) {
  const std::vector<std::string> names = values.list("policy");
  if (names.size() != 1 || names.front() == "all" || names.front() == "oracle") {
    return Error{
        ErrorCode::kUsage,
        fmt::format("--policy: one job follows one policy, got '{}'", values.text("policy")),
        "name one, for example hypermile"};
  }
  const std::string& name = names.front();
  std::vector<std::string> known;
  for (const PolicyEntry& entry : policy_table()) known.emplace_back(entry.name);
  if (name.starts_with("fixed:")) {
    RETURN_IF_ERROR(parse_setting(std::string_view(name).substr(6)));
    return name;
  }
  if (std::ranges::find(known, name) != known.end()) return name;
  return Error{ErrorCode::kUsage, fmt::format("--policy: unknown policy '{}'", name),
               suggestion(name, known)};
}

// --cache; nullopt for "no", and where this user has no home to keep it in and did not ask for it.
Result<std::optional<std::string>> read_cache(const OptionValues& values) {
  const std::string text = values.text("cache");
  if (text == "no") return std::optional<std::string>();
  if (text != "default") return std::optional(text);
  const Result<std::string> path = default_cache_path();
  if (path) return std::optional(*path);
  if (!values.given("cache")) return std::optional<std::string>();
  return Error{ErrorCode::kUsage, "--cache: " + path.error().message, path.error().remedy};
}

Result<ControlRequest> read_control_request(const OptionValues& values) {
  ControlRequest control;
  control.observe = values.flag("observe");
  ASSIGN_OR_RETURN(control.controller.policy, read_policy(values));
  ASSIGN_OR_RETURN(control.controller.objective, read_objective(values));
  ASSIGN_OR_RETURN(const std::vector<Knob> knobs, read_knobs(values));
  if (!knobs.empty()) control.controller.knobs = knobs;
  if (values.given("iterations")) {
    control.controller.job_iterations = static_cast<double>(values.integer("iterations"));
  }
  control.controller.steady = values.flag("steady");
  ASSIGN_OR_RETURN(control.cache, read_cache(values));
  control.counters = values.flag("counters");
  control.model = text_if_given(values, "model");
  return control;
}

// --history; nullopt for "no", and where this user has no home to keep it in.
Result<std::optional<std::string>> read_history(const OptionValues& values) {
  const std::string text = values.text("history");
  if (text == "no") return std::optional<std::string>();
  return text == "default" ? default_history_path() : std::optional(text);
}

}  // namespace

Result<Tariff> read_tariff(const OptionValues& values) {
  Tariff tariff;
  if (values.given("price")) {
    ASSIGN_OR_RETURN(tariff.price, parse_price(values.text("price")));
  }
  if (values.given("carbon")) {
    ASSIGN_OR_RETURN(tariff.carbon, parse_carbon(values.text("carbon")));
  }
  return tariff;
}

std::optional<std::string> text_if_given(const OptionValues& values, std::string_view name) {
  return values.given(name) ? std::optional(values.text(name)) : std::nullopt;
}

ReportRequest read_report_request(const OptionValues& values) {
  ReportRequest report;
  report.log = text_if_given(values, "log");
  report.page = text_if_given(values, "report");
  report.serve = text_if_given(values, "serve");
  report.token_file = text_if_given(values, "token-file");
  report.quiet = values.flag("quiet");
  return report;
}

Result<RunRequest> read_run_request(const OptionValues& values) {
  RunRequest request;
  request.gpu = text_if_given(values, "gpu");
  ASSIGN_OR_RETURN(request.control, read_control_request(values));
  request.report = read_report_request(values);
  request.report.summary = text_if_given(values, "summary");
  ASSIGN_OR_RETURN(request.report.tariff, read_tariff(values));
  ASSIGN_OR_RETURN(request.report.history, read_history(values));
  request.report.json = values.flag("json");
  request.report.live = values.flag("live");
  return request;
}

RunWorld world_of(CommandContext& context) {
  return {.out = context.out,
          .err = context.err,
          .terminal = context.terminal,
          .clock = context.clock,
          .stop = context.stop,
          .signals = context.signals};
}

}  // namespace hypermile
