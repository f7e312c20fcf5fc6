// SPDX-License-Identifier: Apache-2.0
#include "run/job_report.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "base/environment_variable.h"
#include "base/whole_file.h"
#include "record/history.h"
#include "record/machine_facts.h"
#include "record/summary_text.h"
#include "run/job_outcome.h"

namespace hypermile {
namespace {

std::map<std::string, double> totals(const RunSummary& summary) {
  std::map<std::string, double> totals = {{"seconds", summary.duration.value()}};
  for (const GpuReport& gpu : summary.gpus) {
    if (gpu.energy) totals["joules"] += gpu.energy->value();
  }
  if (summary.host_energy) totals["host_joules"] = summary.host_energy->value();
  if (!summary.processes.empty()) {
    for (const PhaseReport& phase : summary.processes.front().phases) {
      totals["iterations"] += phase.iterations;
    }
  }
  return totals;
}

nlohmann::json json_of(const JobOutcome& outcome) {
  nlohmann::json document = to_json(outcome.summary);
  if (outcome.control) document["control"] = to_json(*outcome.control, outcome.summary.figures);
  if (outcome.expected) document["expected"] = to_json(*outcome.expected);
  return document;
}

std::string text_of(const JobOutcome& outcome) {
  std::string text = to_text(outcome.summary);
  if (outcome.control) text += to_text(*outcome.control, outcome.summary.figures);
  if (outcome.expected) text += to_text(*outcome.expected, outcome.objective);
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The bound to be held, as a fraction; nullopt where no clocks are changed or no bound is set.
std::optional<double> allowed_slowdown(const ControlRequest& control) {
  return control.observe ? std::nullopt : effective_bound(control.controller.objective);
}

}  // namespace

JobReport::JobReport(const RunRequest& request, const RunWorld& world)
    : request_(request),
      world_(world),
      page_(request_.report, [this](const std::string& line) { say(line); }) {}

Result<void> JobReport::begin(bool shared_terminal) {
  const ControlRequest& control = request_.control;
  if (request_.report.show_run) {
    live_.emplace(world_.err, LiveTerms{.terminal = world_.terminal,
                                        .shared = shared_terminal,
                                        .quiet = request_.report.quiet,
                                        .asked_for = request_.report.live,
                                        .term = environment_variable("TERM").value_or(""),
                                        .no_color = environment_variable("NO_COLOR").value_or(""),
                                        .bound = allowed_slowdown(control)});
  }
  if (request_.report.summary) RETURN_IF_ERROR(check_writable(*request_.report.summary));
  ASSIGN_OR_RETURN(const std::optional<std::string> path, page_.prepare());
  std::unique_ptr<LineSink> sink;
  if (path) {
    ASSIGN_OR_RETURN(sink, open_log_file(*path));
  }
  log_ = std::make_unique<EventLog>(std::move(sink), world_.clock);
  log_->listen([this](const Event& event) {
    if (live_) live_->take(event);
    if (const auto* opened = std::get_if<GpuEvent>(&event.body)) gpus_.push_back(opened->gpu);
  });
  RunStart start = describe_run(world_.clock, request_.typed, {});
  if (!control.observe) {
    start.environment["policy"] = control.controller.policy;
    start.environment.merge(describe(control.controller.objective));
  }
  start.environment.merge(describe(request_.report.tariff));
  start_ = start;
  append(std::move(start));
  return {};
}

void JobReport::say(const std::string& line) {
  if (request_.report.say) {
    request_.report.say(line);
    return;
  }
  if (live_) live_->make_room();
  const std::string text = "hypermile: " + line + "\n";
  world_.err << (world_.terminal ? fitted(text) : text) << std::flush;
}

void JobReport::append(EventBody body) {
  if (const Result<void> written = log_->append(std::move(body)); !written) {
    say(written.error().line());
  }
}

void JobReport::finish(JobOutcome outcome, const std::string& reason) {
  RunEnd end{outcome.summary.end.exit_code(), reason, totals(outcome.summary), {}};
  // The figures must know the tariff and the totals, as those of a reader of the log do, before
  // text is made.
  outcome.summary.figures.add({world_.clock.now(), start_});
  outcome.summary.figures.add({world_.clock.now(), end});
  end.summary = lines_of(text_of(outcome));
  append(end);
  if (request_.report.show_run) show(outcome, end);
  page_.finish();
  remember(outcome, end);
}

void JobReport::remember(const JobOutcome& outcome, const RunEnd& end) {
  if (!request_.report.history) return;
  std::error_code ignored;
  const std::optional<RunEnd> ended = end;
  EndedRun run{start_, ended, outcome.summary.figures, gpus_};
  run.folder = std::filesystem::current_path(ignored).string();
  if (request_.report.log) {
    run.log = std::filesystem::absolute(*request_.report.log, ignored).string();
  }
  const Result<void> kept = hypermile::remember(*request_.report.history, remembered(run));
  if (!kept && !request_.report.quiet) say(kept.error().line());
}

// People are shown the same lines as stand in the log.
void JobReport::show(const JobOutcome& outcome, const RunEnd& end) {
  const ReportRequest& wanted = request_.report;
  if (wanted.summary) {
    const Result<void> written = write_whole_file(
        *wanted.summary,
        json_of(outcome).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    if (!written) say(written.error().line());
  }
  if (wanted.json) {
    world_.out << json_of(outcome).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
               << std::endl;
  } else if (!wanted.quiet) {
    for (const std::string& line : end.summary) {
      world_.err << (world_.terminal ? fitted(line) : line + "\n");
    }
    world_.err << std::flush;
  }
}

}  // namespace hypermile
