// SPDX-License-Identifier: Apache-2.0
#include "run/job_report.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "record/machine_facts.h"
#include "run/watch_job.h"

namespace hypermile {
namespace {

std::map<std::string, double> totals(const RunSummary& summary) {
  std::map<std::string, double> totals = {{"seconds", summary.duration.value()}};
  for (const GpuReport& gpu : summary.gpus) {
    if (gpu.energy) totals["joules"] += gpu.energy->value();
  }
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

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

Result<void> JobReport::open_log(std::vector<std::string> typed, const ControlChoice& choice) {
  ASSIGN_OR_RETURN(const std::optional<std::string> path, page_.prepare());
  std::unique_ptr<LineSink> sink;
  if (path) {
    ASSIGN_OR_RETURN(sink, open_log_file(*path));
  }
  log_ = std::make_unique<EventLog>(std::move(sink), context_.clock);
  if (live_) log_->listen([this](const Event& event) { live_->take(event); });
  RunStart start = describe_run(context_.clock, std::move(typed), {});
  if (!choice.observe) {
    start.environment["policy"] = choice.controller.policy;
    start.environment.merge(describe(choice.controller.objective));
  }
  append(std::move(start));
  return {};
}

Result<void> JobReport::begin(std::vector<std::string> typed, const ControlChoice& choice,
                              bool shared) {
  live_.emplace(context_.err, LiveTerms{.terminal = context_.terminal,
                                        .shared = shared,
                                        .quiet = options_.flag("quiet"),
                                        .asked_for = options_.flag("live"),
                                        .term = variable("TERM"),
                                        .no_color = variable("NO_COLOR"),
                                        .bound = allowed_slowdown(choice)});
  return open_log(std::move(typed), choice);
}

void JobReport::say(const std::string& line) {
  if (live_) live_->make_room();
  context_.err << "hypermile: " << line << std::endl;
}

void JobReport::append(EventBody body) {
  if (const Result<void> written = log_->append(std::move(body)); !written) {
    say(written.error().line());
  }
}

// The figures are told of the end before its lines are made, as a reader of the log tells them.
RunEnd JobReport::append_end(JobOutcome& outcome, const std::string& reason) {
  RunEnd end{outcome.summary.end.exit_code(), reason, totals(outcome.summary), {}};
  outcome.summary.figures.add({context_.clock.now(), end});
  end.summary = lines_of(text_of(outcome));
  append(end);
  return end;
}

void JobReport::finish_log(JobOutcome outcome, const std::string& reason) {
  append_end(outcome, reason);
  page_.finish();
}

void JobReport::finish(JobOutcome outcome, const std::string& reason) {
  const RunEnd end = append_end(outcome, reason);
  if (options_.given("summary") || options_.flag("json")) {
    const nlohmann::json document = json_of(outcome);
    if (options_.given("summary")) {
      std::ofstream file(options_.text("summary"));
      file << document.dump(1) << "\n";
      if (!file.flush()) say(options_.text("summary") + ": cannot be written");
    }
    if (options_.flag("json")) context_.out << document.dump() << std::endl;
  }
  if (!options_.flag("json") && !options_.flag("quiet")) {
    for (const std::string& line : end.summary) context_.err << line << "\n";
    context_.err << std::flush;
  }
  page_.finish();
}

}  // namespace hypermile
