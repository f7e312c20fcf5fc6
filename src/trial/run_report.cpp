// SPDX-License-Identifier: Apache-2.0
#include "trial/run_report.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/parse.h"
#include "trial/judge/truth.h"

namespace hypermile {
namespace {

constexpr double kThrottled = 0.5;  // share of a window's samples

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

std::string environment_of(const RunStart& start, const char* key) {
  const auto found = start.environment.find(key);
  return found != start.environment.end() ? found->second : "";
}

Result<Objective> objective_of(const RunStart& start) {
  ASSIGN_OR_RETURN(Objective objective, parse_objective(environment_of(start, "objective")));
  ASSIGN_OR_RETURN(const double host, parse_number(environment_of(start, "host_watts")));
  objective.host_power = Watts(host);
  return objective;
}

// Reads the log once: what was decided, and what the windows were like.
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
    if (!exploring_ || !held_) keep(decision);
    held_ = held_ || !exploring_;
  }
  // The setting of a decision without a share takes the place of all others.
  void keep(const Decision& decision) {
    auto& kept = out_.result.kept;
    const auto share = decision.numbers.find("share");
    if (share == decision.numbers.end() || !held_) kept.clear();
    const auto found = std::ranges::find(kept, decision.setting, &SettingShare::setting);
    if (found == kept.end()) {
      kept.push_back({decision.setting, 1});
    }
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

RunFigures figures_of(std::span<const Event> run) {
  RunFigures figures;
  for (const Event& event : run) figures.add(event);
  return figures;
}

// The whole job, and one iteration in the phase in which most of the time was spent.
Result<void> take_figures(std::span<const Event> run, std::span<const Event> default_run,
                          SimulatedOutcome& out) {
  const JobTotals usual = figures_of(default_run).job();
  RunFigures figures = figures_of(run);
  if (!usual.joules || !figures.job().joules) return cut_off("joules");
  figures.compare_with({usual.seconds, *usual.joules, 0});
  out.job = figures.job();
  const std::vector<JobPhase> phases = figures.job_phases();
  if (phases.empty()) return {};
  for (const SettingCost& cost : phases.front().settings) {
    if (cost.setting.empty()) out.baseline = cost;
  }
  out.kept = phases.front().kept;
  // A job that was left alone kept the default, though nobody decided so.
  const Setting last = out.result.kept.empty() ? Setting() : out.result.kept.front().setting;
  const SettingCost* there = phases.front().at(last);
  if (!out.kept && there != nullptr) out.kept = *there;
  if (!phases.front().shares.empty()) out.result.kept = phases.front().shares;
  return {};
}

Result<void> take_truth(const RunEnd& end, SimulatedOutcome& out) {
  RunResult& result = out.result;
  ASSIGN_OR_RETURN(result.final_saved, total(end, "true_final_saved"));
  ASSIGN_OR_RETURN(result.final_slowdown, total(end, "true_final_slowdown"));
  ASSIGN_OR_RETURN(result.oracle_saved, total(end, "true_best_saved"));
  ASSIGN_OR_RETURN(out.best_slowdown, total(end, "true_best_slowdown"));
  ASSIGN_OR_RETURN(out.best_energy_change, total(end, "true_best_energy_change"));
  return {};
}

}  // namespace

Result<SimulatedOutcome> report_run(std::span<const Event> run,
                                    std::span<const Event> default_run) {
  const auto* start = find_body<RunStart>(run);
  const auto* end = find_body<RunEnd>(run);
  if (start == nullptr) return cut_off("start");
  if (end == nullptr || find_body<RunEnd>(default_run) == nullptr) return cut_off("end");
  SimulatedOutcome out;
  out.result.key =
      JobKey{environment_of(*start, "gpu"), environment_of(*start, "workload"), "", ""};
  out.result.policy = environment_of(*start, "policy");
  Reader reader(out);
  for (const Event& event : run) {
    if (const auto* decision = std::get_if<Decision>(&event.body)) {
      reader.read(*decision, event.time - run.front().time);
    }
    if (const auto* window = std::get_if<WindowEvent>(&event.body)) reader.read(*window);
  }
  RETURN_IF_ERROR(take_figures(run, default_run, out));
  RETURN_IF_ERROR(take_truth(*end, out));
  ASSIGN_OR_RETURN(const Objective objective, objective_of(*start));
  RunResult& result = out.result;
  const double time_ratio = 1 + out.job.time_change->value;
  const double energy_ratio = 1 + out.job.energy_change->value;
  const Watts base = Watts(*out.job.default_joules / *out.job.default_seconds);
  result.slowdown = out.job.time_change->value;
  result.saved = saved_share(objective, time_ratio, energy_ratio / time_ratio, base);
  if (const auto bound = end->totals.find("bound"); bound != end->totals.end()) {
    out.bound = bound->second;
    result.violated_job = result.slowdown > *out.bound + kBoundEpsilon;
    result.violated_final = result.final_slowdown > *out.bound + kBoundEpsilon;
    result.violated_final_half_point = result.final_slowdown > *out.bound + 0.005;
  }
  return out;
}

}  // namespace hypermile
