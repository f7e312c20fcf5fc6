// SPDX-License-Identifier: Apache-2.0
#include "cli/policy_results.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace hypermile {
namespace {

// A share of less than this is a ratio of two small numbers: 4.7 % saved against 1.0 % would read
// as 470 %.
constexpr double kLeastShared = 0.02;

double in_percent(double fraction) {
  return 100 * fraction;
}

}  // namespace

nlohmann::json to_json(const RunResult& run) {
  nlohmann::json json = {{"gpu", run.key.gpu},
                         {"workload", run.key.workload},
                         {"phase", run.key.phase},
                         {"variant", run.key.variant},
                         {"policy", run.policy},
                         {"repeat", run.repeat},
                         {"oracle_saved_pct", in_percent(run.oracle_saved)},
                         {"saved_pct", in_percent(run.saved)},
                         {"slowdown_pct", in_percent(run.slowdown)},
                         {"final_setting", to_string(run.kept)},
                         {"final_saved_pct", in_percent(run.final_saved)},
                         {"final_slowdown_pct", in_percent(run.final_slowdown)},
                         {"probes", run.probes},
                         {"settings_visited", run.settings_visited},
                         {"aborts", run.aborts},
                         {"violated_job", run.violated_job},
                         {"violated_final", run.violated_final}};
  if (run.held_after) json["held_after_iterations"] = *run.held_after;
  return json;
}

nlohmann::json to_json(const PolicySummary& s) {
  return {{"policy", s.policy},
          {"runs", s.runs},
          {"mean_oracle_saved_pct", in_percent(s.mean_oracle_saved)},
          {"mean_saved_pct", in_percent(s.mean_saved)},
          {"share_of_oracle", s.share_of_oracle},
          {"share_of_oracle_95", {s.share_interval.low, s.share_interval.high}},
          {"final_share_of_oracle", s.final_share_of_oracle},
          {"mean_slowdown_pct", in_percent(s.mean_slowdown)},
          {"max_slowdown_pct", in_percent(s.max_slowdown)},
          {"violations_job", s.violations_job},
          {"violations_final", s.violations_final},
          {"violations_final_half_point", s.violations_final_half_point},
          {"losses", s.losses},
          {"ends_at_default", s.ends_at_default},
          {"mean_probes", s.mean_probes},
          {"median_held_after_iterations", s.median_held_after},
          {"mean_settings_visited", s.mean_settings_visited}};
}

std::string policy_table_text(std::span<const PolicySummary> summaries) {
  std::string out =
      fmt::format("{:<15} {:>5} {:>7} {:>15} {:>6} {:>6} {:>6} {:>6} {:>5}\n", "policy", "runs",
                  "saved %", "share of oracle", "slower", "most %", "over %", "worse", "tried");
  bool unshared = false;
  for (const PolicySummary& s : summaries) {
    const auto of_runs = [&](std::size_t count) {
      return in_percent(static_cast<double>(count) / static_cast<double>(s.runs));
    };
    const bool share = s.mean_oracle_saved >= kLeastShared;
    unshared = unshared || !share;
    out += fmt::format(
        "{:<15} {:>5} {:>7.2f} {:>15} {:>6.2f} {:>6.2f} {:>6.1f} {:>6.1f} {:>5.1f}\n", s.policy,
        s.runs, in_percent(s.mean_saved),
        share ? fmt::format("{:.0f} ({:.0f}-{:.0f}) %", in_percent(s.share_of_oracle),
                            in_percent(s.share_interval.low), in_percent(s.share_interval.high))
              : "-",
        in_percent(s.mean_slowdown), in_percent(s.max_slowdown), of_runs(s.violations_job),
        of_runs(s.losses), s.mean_probes);
  }
  out +=
      "slower, most: % of the job's time; over: jobs beyond the bound; worse: jobs\n"
      "that used more energy than at the default; tried: windows of the search.\n";
  if (unshared) {
    out += fmt::format(
        "No share is given where the best single setting saves less than {:g} %: a mix\n"
        "of settings can save more, and a finer --grid of the sweep may show better ones.\n",
        in_percent(kLeastShared));
  }
  return out;
}

}  // namespace hypermile
