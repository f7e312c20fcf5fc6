// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "cli/policy_results.h"
#include "record/figures_text.h"
#include "trial/judge/summary.h"

namespace hypermile {
namespace {

// Enough digits for a thousandth of the value.
int digits_for(double value) {
  if (value >= 100) return 1;
  return value >= 1 ? 3 : 4;
}

std::string with_interval(const std::optional<Estimate>& estimate, double scale) {
  if (!estimate) return "-";
  const double value = estimate->value * scale;
  const int digits = digits_for(value);
  if (!estimate->half_width95) return fmt::format("{:.{}f}", value, digits);
  return fmt::format("{:.{}f} ± {:.{}f}", value, digits, *estimate->half_width95 * scale, digits);
}

std::string percent(double fraction) {
  return fmt::format("{:+.2f} %", 100 * fraction);
}

double energy_change(const SimulatedOutcome& o) {
  return o.job.energy_change->value;
}

std::string verdict(const SimulatedOutcome& o) {
  if (!o.bound) return "no bound";
  if (o.result.violated_job) return "job over";
  return o.result.violated_final ? "setting over" : "kept";
}

nlohmann::json estimate_json(const std::optional<Estimate>& estimate) {
  if (!estimate) return nullptr;
  nlohmann::json j = {{"mean", estimate->value}};
  if (estimate->half_width95) j["interval95"] = *estimate->half_width95;
  return j;
}

nlohmann::json cost_json(const SettingCost& cost) {
  return {{"setting", to_string(cost.setting)},
          {"windows", cost.windows},
          {"time_per_iteration_s", estimate_json(cost.time_s)},
          {"power_w", estimate_json(cost.power_w)},
          {"energy_per_iteration_j", estimate_json(cost.energy_j)}};
}

std::string job_line(const SimulatedOutcome& o) {
  std::string time = "-";
  std::string energy = "-";
  if (o.kept) {
    time = with_interval(o.kept->time_s, 1e3);
    energy = with_interval(o.kept->energy_j, 1);
  }
  const std::string kept = spoken(o.result.kept, 2, "of the iterations");
  return fmt::format("{:<12} {:>10} {:>8} {:>14} {:>14} {:>6}  {}\n{}", o.result.policy,
                     percent(energy_change(o)), percent(o.result.slowdown), time, energy,
                     o.result.probes, verdict(o),
                     o.result.policy == "default" ? "" : fmt::format("  kept: {}\n", kept));
}

// A search that was not over when its job ended; the default and the oracle do not search.
std::string unfinished(const SimulatedOutcome& o) {
  if (o.settled_s || o.result.policy == "default" || o.result.policy == "oracle" ||
      o.result.policy.starts_with("fixed:")) {
    return "";
  }
  return fmt::format(
      "\nThe search of {} was not over when the job ended: the job\n"
      "lasts only {:.0f} s at the default. A longer one (--iterations) shows what it saves.\n",
      o.result.policy, *o.job.default_seconds);
}

std::vector<PolicySummary> summaries_of(std::span<const SimulatedOutcome> outcomes) {
  std::vector<RunResult> results;
  for (const SimulatedOutcome& o : outcomes) results.push_back(o.result);
  return results.empty() ? std::vector<PolicySummary>() : summarise(results);
}

}  // namespace

nlohmann::json to_json(const SimulatedOutcome& o) {
  nlohmann::json j = to_json(o.result);
  j["seconds"] = o.job.seconds;
  j["joules"] = *o.job.joules;
  j["default_seconds"] = *o.job.default_seconds;
  j["default_joules"] = *o.job.default_joules;
  j["energy_change_pct"] = 100 * energy_change(o);
  j["oracle_setting"] = to_string(o.best);
  j["oracle_slowdown_pct"] = 100 * o.best_slowdown;
  if (o.settled_s) j["settled_s"] = *o.settled_s;
  j["windows"] = o.windows;
  j["throttled_windows"] = o.throttled_windows;
  j["unusable_windows"] = o.unusable_windows;
  if (o.bound) j["max_slowdown_pct"] = 100 * *o.bound;
  if (o.baseline) j["baseline"] = cost_json(*o.baseline);
  if (o.kept) j["kept"] = cost_json(*o.kept);
  return j;
}

nlohmann::json comparison_json(std::span<const SimulatedOutcome> outcomes) {
  nlohmann::json runs = nlohmann::json::array();
  for (const SimulatedOutcome& o : outcomes) runs.push_back(to_json(o));
  nlohmann::json summary = nlohmann::json::array();
  for (const PolicySummary& s : summaries_of(outcomes)) summary.push_back(to_json(s));
  return {{"simulated", true}, {"runs", std::move(runs)}, {"summary", std::move(summary)}};
}

std::string job_table(std::span<const SimulatedOutcome> outcomes) {
  if (outcomes.empty()) return "";
  const SimulatedOutcome& any = outcomes.front();
  const std::string bound = any.bound ? fmt::format("bound {:g} %", 100 * *any.bound) : "bound";
  std::string out =
      fmt::format("{:<12} {:>10} {:>8} {:>14} {:>14} {:>6}  {}\n", "policy", "job energy",
                  "job time", "ms/iteration", "J/iteration", "probes", bound);
  for (const SimulatedOutcome& o : outcomes) out += job_line(o);
  out += fmt::format("{:<12} {:>10} {:>8}  {}\n", "(true best)", percent(any.best_energy_change),
                     percent(any.best_slowdown), to_string(any.best));
  for (const SimulatedOutcome& o : outcomes) out += unfinished(o);
  return out;
}

std::string suite_table(std::span<const SimulatedOutcome> outcomes) {
  std::string out = fmt::format("{:<22} {:<12} {:>10} {:>9} {:>9} {:>6} {}\n", "workload", "policy",
                                "job energy", "job time", "true best", "probes", "bound");
  for (const SimulatedOutcome& o : outcomes) {
    out += fmt::format("{:<22} {:<12} {:>10} {:>9} {:>9} {:>6} {}\n", o.result.key.workload,
                       o.result.policy, percent(energy_change(o)), percent(o.result.slowdown),
                       percent(o.best_energy_change), o.result.probes, verdict(o));
  }
  return out + "\n" + policy_table_text(summaries_of(outcomes));
}

void end_interrupted(std::size_t cut_off, CommandContext& context) {
  context.err << fmt::format("hypermile: interrupted; {} cut off and {} not compared\n",
                             cut_off == 1 ? "one run was" : fmt::format("{} runs were", cut_off),
                             cut_off == 1 ? "is" : "are");
  context.job_end = JobEnd{.code = kInterrupted, .signal = {}};
}

}  // namespace hypermile
