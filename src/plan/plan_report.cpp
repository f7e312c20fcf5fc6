// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_report.h"

#include "plan/break_even.h"

namespace hypermile {
namespace {

constexpr double kMib = 1024.0 * 1024.0;

std::vector<PlanSegment> segments_of(const CostTable& table, const Assignment& assignment) {
  const std::size_t n = assignment.size();
  std::size_t first = 0;
  while (first < n && assignment[first] == assignment[(first + n - 1) % n]) ++first;
  if (first == n) first = 0;
  std::vector<PlanSegment> segments;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t stage = (first + i) % n;
    const bool begins = i == 0 || assignment[stage] != assignment[(stage + n - 1) % n];
    if (begins) segments.push_back({stage, stage, table.choices[assignment[stage]], 0});
    segments.back().to = stage;
    segments.back().time_s += table.at(stage, assignment[stage]).time_s;
  }
  return segments;
}

StrategyReport report_of(StrategyResult result, const StrategyInput& input,
                         const Efficiency& efficiency) {
  StrategyReport report;
  for (std::size_t i = 0; i < input.stages.size(); ++i) {
    const Choice& choice = input.table.choices[result.wanted[i]];
    report.idle.push_back(idle_of(input.sheet, input.stages[i], efficiency, choice));
    report.idle_sum.compute_s += report.idle.back().compute_s;
    report.idle_sum.memory_s += report.idle.back().memory_s;
  }
  report.result = std::move(result);
  return report;
}

}  // namespace

Result<PlanReport> make_plan_report(const Network& network, const GpuSheet& sheet,
                                    const PlanOptions& options) {
  PlanReport report;
  report.stages = make_stages(network, {.precision = options.precision,
                                        .scope = options.scope,
                                        .fuse = options.fuse,
                                        .l2_bytes = sheet.l2_mib * kMib});
  if (report.stages.empty()) {
    return Error{ErrorCode::kUsage, "this network has no layer that runs on a GPU",
                 "give another network or --phase"};
  }
  report.table = make_cost_table(sheet, report.stages, options.efficiency);
  const Choice& normal = report.table.choices.front();
  report.ridge = ridge(sheet, options.precision, normal.sm, normal.memory);
  report.latency = latency_of(sheet, options.switching);
  for (std::size_t i = 0; i < report.stages.size(); ++i) {
    report.costs.push_back(report.table.at(i, 0));
    report.memory_bound.push_back(memory_bound(sheet, report.stages[i], options.precision, normal));
  }
  const PlanProblem problem =
      make_problem(sheet, report.table, options.max_slowdown, options.switching);
  const StrategyInput input{sheet,        report.stages, options.precision,
                            report.table, problem,       options.max_slowdown};
  for (const std::string_view name : strategy_names()) {
    report.strategies.push_back(report_of(run_strategy(name, input), input, options.efficiency));
  }
  report.segments = segments_of(report.table, report.strategies.back().result.wanted);
  if (options.break_even) report.break_even = find_break_even(input, options.switching);
  return report;
}

}  // namespace hypermile
