// SPDX-License-Identifier: Apache-2.0
#include "trial/run_report.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/parse.h"
#include "trial/judge/truth.h"

namespace hypermile {
namespace {

constexpr double kThrottled = 0.5;  // of a Window's samples

Error cut_off(const char* what) {
  return Error{ErrorCode::kParse, std::string("the log of a simulated run has no ") + what,
               "run the simulation again"};
}

template <class Body>
const Body* find_body(std::span<const Event> events) {
  for (const Event& event : events) {
    if (const Body* body = std::get_if<Body>(&event.body)) return body;
  }
  return nullptr;
}

Result<double> total(const RunEnd& end, const char* name) {
  const auto found = end.totals.find(name);
  if (found == end.totals.end()) return cut_off(name);
  return found->second;
}

std::string told(const RunStart& start, const char* key) {
  const auto found = start.environment.find(key);
  return found != start.environment.end() ? found->second : "";
}

Result<Objective> objective_of(const RunStart& start) {
  ASSIGN_OR_RETURN(Objective objective, parse_objective(told(start, "objective")));
  ASSIGN_OR_RETURN(const double host, parse_number(told(start, "host_watts")));
  objective.host_power = Watts(host);
  return objective;
}

// Walks the log once: what was decided, and what the Windows were like.
class Reader {
 public:
  explicit Reader(SimulatedOutcome& out) : out_(out) {}

  void read(const Decision& decision, Seconds since_start) {
    if (decision.policy == "truth") {
      out_.best = decision.setting;
      return;
    }
    const auto exploring = decision.numbers.find("exploring");
    exploring_ = exploring != decision.numbers.end() && exploring->second > 0;
    if (!exploring_ && !held_) out_.settled_s = since_start.value();
    if (!exploring_ || !held_) out_.result.final_setting = decision.setting;
    held_ = held_ || !exploring_;
  }
  void read(const WindowEvent& event) {
    const Window& window = event.window;
    ++out_.windows;
    out_.result.probes += exploring_;
    out_.result.aborts += window.aborted;
    out_.throttled_windows += window.throttled_share > kThrottled;
    out_.unusable_windows += !window.usable();
    const std::string name = to_string(window.setting);
    if (!window.setting.empty() && visited_.insert(name).second) ++out_.result.settings_visited;
  }

 private:
  SimulatedOutcome& out_;
  bool exploring_ = false;
  bool held_ = false;
  std::set<std::string> visited_;
};

void take_summaries(std::span<const Event> run, SimulatedOutcome& out) {
  for (const SettingSummary& summary : summarize_settings(run)) {
    if (summary.setting.empty()) out.baseline = summary;
    if (summary.setting == out.result.final_setting) out.kept = summary;
  }
}

Result<void> take_totals(const RunEnd& end, const RunEnd& default_end, SimulatedOutcome& out) {
  RunResult& result = out.result;
  ASSIGN_OR_RETURN(out.seconds, total(end, "seconds"));
  ASSIGN_OR_RETURN(out.joules, total(end, "joules"));
  ASSIGN_OR_RETURN(out.default_seconds, total(default_end, "seconds"));
  ASSIGN_OR_RETURN(out.default_joules, total(default_end, "joules"));
  ASSIGN_OR_RETURN(result.final_saved, total(end, "true_final_saved"));
  ASSIGN_OR_RETURN(result.final_slowdown, total(end, "true_final_slowdown"));
  ASSIGN_OR_RETURN(result.oracle_saved, total(end, "true_best_saved"));
  ASSIGN_OR_RETURN(out.best_slowdown, total(end, "true_best_slowdown"));
  ASSIGN_OR_RETURN(out.best_energy_change, total(end, "true_best_energy_change"));
  return {};
}

}  // namespace

Result<std::vector<Event>> parse_events(std::string_view text) {
  std::vector<Event> events;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    ASSIGN_OR_RETURN(Event event, parse_event(text.substr(0, end)));
    events.push_back(std::move(event));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return events;
}

Result<SimulatedOutcome> report_run(std::span<const Event> run,
                                    std::span<const Event> default_run) {
  const auto* start = find_body<RunStart>(run);
  const auto* end = find_body<RunEnd>(run);
  const auto* default_end = find_body<RunEnd>(default_run);
  if (start == nullptr) return cut_off("start");
  if (end == nullptr || default_end == nullptr) return cut_off("end");
  SimulatedOutcome out;
  out.result.key = JobKey{told(*start, "gpu"), told(*start, "workload"), "", ""};
  out.result.policy = told(*start, "policy");
  Reader reader(out);
  for (const Event& event : run) {
    if (const auto* decision = std::get_if<Decision>(&event.body)) {
      reader.read(*decision, event.time - run.front().time);
    }
    if (const auto* window = std::get_if<WindowEvent>(&event.body)) reader.read(*window);
  }
  take_summaries(run, out);
  RETURN_IF_ERROR(take_totals(*end, *default_end, out));
  ASSIGN_OR_RETURN(const Objective objective, objective_of(*start));
  RunResult& result = out.result;
  const double time_ratio = out.seconds / out.default_seconds;
  const Watts base = Watts(out.default_joules / out.default_seconds);
  result.slowdown = time_ratio - 1;
  result.saved = 1 - score(objective, time_ratio, out.joules / out.seconds / base.value(), base);
  if (const auto bound = end->totals.find("bound"); bound != end->totals.end()) {
    out.bound = bound->second;
    result.violated_job = result.slowdown > *out.bound + kBoundEpsilon;
    result.violated_final = result.final_slowdown > *out.bound + kBoundEpsilon;
    result.violated_final_half_point = result.final_slowdown > *out.bound + 0.005;
  }
  return out;
}

}  // namespace hypermile
