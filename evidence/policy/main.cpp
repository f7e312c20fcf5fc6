// SPDX-License-Identifier: Apache-2.0
//
// Plays every row of the ablation on measured curves under one condition and prints a line of
// tab-separated figures for each: name, share of the best single setting's saving, whole jobs over
// the bound by more than 0.1 points, kept over by more than 0.5 points, windows. Called by
// scripts/evidence/ablation.
//
//   policy_evidence [--iterations N] [--drift SHARE] [--knobs K] [--curves F] F.csv…
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/evaluate.h"
#include "evidence/policy/parts.h"

namespace hypermile {
namespace {

// The best single setting itself reaches the bound by the clock, so a tenth of a point is allowed.
constexpr double kOver = 0.001;

int print_rows(EvaluateOptions options) {
  options.policies.clear();
  for (const AblationRow& row : ablation_rows()) options.policies.push_back(row.name);
  options.play = play_row;
  const auto evaluation = run_evaluate(options);
  if (!evaluation) {
    fmt::print(stderr, "policy_evidence: {}\n", evaluation.error().line());
    return 1;
  }
  const double bound = effective_bound(options.conditions.objective).value_or(0);
  for (const PolicySummary& summary : evaluation->summary) {
    const auto over = std::ranges::count_if(evaluation->runs, [&](const RunResult& run) {
      return run.policy == summary.policy && run.slowdown > bound + kOver;
    });
    const auto runs = static_cast<double>(summary.runs);
    fmt::print("{}\t{:.1f}\t{:.1f}\t{:.1f}\t{:.1f}\n", summary.policy,
               100 * summary.share_of_oracle, 100 * static_cast<double>(over) / runs,
               100 * static_cast<double>(summary.violations_final_half_point) / runs,
               summary.mean_probes);
  }
  return 0;
}

}  // namespace
}  // namespace hypermile

int main(int argc, char** argv) {
  hypermile::EvaluateOptions options;
  std::string knob;
  CLI::App app("The ablation of the search.");
  app.add_option("sweeps", options.sweeps, "F.csv or F.csv@15MHz")->required();
  app.add_option("--iterations", options.conditions.iterations);
  app.add_option("--drift", options.conditions.drift, "0.015 is 1.5 %");
  app.add_option("--knobs", knob)->check(CLI::IsMember({"sm", "limit"}));
  app.add_option("--curves", options.curve_list);
  CLI11_PARSE(app, argc, argv);
  if (knob == "sm") options.knobs = {hypermile::Knob::kSmClock};
  if (knob == "limit") options.knobs = {hypermile::Knob::kPowerLimit};
  return hypermile::print_rows(options);
}
