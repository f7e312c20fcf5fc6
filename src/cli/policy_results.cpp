// SPDX-License-Identifier: Apache-2.0
#include "cli/policy_results.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace hypermile {
namespace {

double percent(double fraction) {
  return 100 * fraction;
}

}  // namespace

nlohmann::json to_json(const RunResult& run) {
  return {{"gpu", run.key.gpu},
          {"workload", run.key.workload},
          {"phase", run.key.phase},
          {"variant", run.key.variant},
          {"policy", run.policy},
          {"repeat", run.repeat},
          {"oracle_saved_pct", percent(run.oracle_saved)},
          {"saved_pct", percent(run.saved)},
          {"slowdown_pct", percent(run.slowdown)},
          {"final_setting", to_string(run.final_setting)},
          {"final_saved_pct", percent(run.final_saved)},
          {"final_slowdown_pct", percent(run.final_slowdown)},
          {"probes", run.probes},
          {"settings_visited", run.settings_visited},
          {"aborts", run.aborts},
          {"violated_job", run.violated_job},
          {"violated_final", run.violated_final}};
}

nlohmann::json to_json(const PolicySummary& s) {
  return {{"policy", s.policy},
          {"runs", s.runs},
          {"mean_oracle_saved_pct", percent(s.mean_oracle_saved)},
          {"mean_saved_pct", percent(s.mean_saved)},
          {"share_of_oracle", s.share_of_oracle},
          {"share_of_oracle_95", {s.share_interval.low, s.share_interval.high}},
          {"final_share_of_oracle", s.final_share_of_oracle},
          {"mean_slowdown_pct", percent(s.mean_slowdown)},
          {"max_slowdown_pct", percent(s.max_slowdown)},
          {"violations_job", s.violations_job},
          {"violations_final", s.violations_final},
          {"violations_final_half_point", s.violations_final_half_point},
          {"losses", s.losses},
          {"ends_at_default", s.ends_at_default},
          {"mean_probes", s.mean_probes},
          {"mean_settings_visited", s.mean_settings_visited}};
}

std::string policy_table_text(std::span<const PolicySummary> summaries) {
  std::string out = fmt::format(
      "| {:<16} | {:>5} | {:>7} | {:>15} | {:>7} | {:>15} | {:>19} | {:>8} | {:>6} | {:>10} | "
      "{:>8} |\n",
      "policy", "runs", "saved %", "share of oracle", "final", "slowdown % mean/max",
      "kept over / by 0.5", "job over", "losses", "at default", "windows");
  out += "|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const PolicySummary& s : summaries) {
    const auto of_runs = [&](std::size_t count) {
      return percent(static_cast<double>(count) / static_cast<double>(s.runs));
    };
    out += fmt::format(
        "| {:<16} | {:>5} | {:>7.2f} | {:>5.1f} ({:.0f}-{:.0f}) % | {:>5.1f} % | {:>8.2f} / "
        "{:<8.2f} "
        "| {:>8.1f} / {:<4.1f} % | {:>6.1f} % | {:>4.1f} % | {:>8.1f} % | {:>8.1f} |\n",
        s.policy, s.runs, percent(s.mean_saved), percent(s.share_of_oracle),
        percent(s.share_interval.low), percent(s.share_interval.high),
        percent(s.final_share_of_oracle), percent(s.mean_slowdown), percent(s.max_slowdown),
        of_runs(s.violations_final), of_runs(s.violations_final_half_point),
        of_runs(s.violations_job), of_runs(s.losses), of_runs(s.ends_at_default), s.mean_probes);
  }
  return out;
}

}  // namespace hypermile
