// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/break_even.h"

namespace hypermile {
namespace {

constexpr double kMib = 1024.0 * 1024.0;
// The least share of the layers' time that a file of another name has to cover: an export and a
// profile of one network may have two names, and two networks may have a few shapes in common.
constexpr double kSameNetwork = 0.5;

Result<void> check_network(const MeasuredLayers& measured, const Network& network,
                           const PlanReport& report) {
  if (measured.network.empty() || measured.network == network.name) return {};
  double layers = 0;  // their time; the optimizer is never measured
  for (std::size_t i = 0; i < report.stages.size(); ++i) {
    if (!report.stages[i].key.empty()) layers += report.measured->table.at(i, 0).time_s;
  }
  const double covered =
      report.measured->covered_time * report.measured->table.uniform(0).time_s / layers;
  if (covered >= kSameNetwork) return {};
  return Error{ErrorCode::kUsage,
               fmt::format("{} was measured on {}, and covers {:.0f} % of the layers' time of {}",
                           measured.file, measured.network, 100 * covered, network.name),
               "measure this network with hypermile.profile_layers()"};
}

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

// Runs every strategy. Where layers were measured, strategies choose on the cautious table, and are
// judged on the measured one.
void run_strategies(PlanReport& report, const StrategyInput& judged, const PlanOptions& options) {
  const CostTable careful = report.measured ? cautious(*report.measured) : CostTable{};
  const PlanProblem careful_problem =
      report.measured ? make_problem(judged.sheet, careful, options.max_slowdown, options.switching)
                      : PlanProblem{};
  const StrategyInput chooses{judged.sheet, judged.stages,   judged.precision,
                              careful,      careful_problem, judged.max_slowdown};
  const Assignment normal(report.stages.size(), 0);
  for (const std::string_view name : strategy_names()) {
    StrategyResult result = run_strategy(name, report.measured ? chooses : judged);
    if (report.measured) judge(result, judged.problem);
    report.strategies.push_back(report_of(std::move(result), judged, options.efficiency));
    if (!report.measured) continue;
    StrategyReport& added = report.strategies.back();
    added.error = error_between(*report.measured, added.result.wanted, normal);
    added.claimed = added.result.saved > added.error.saved;
  }
}

const StrategyReport& strategy(const PlanReport& report, std::string_view name) {
  return *std::ranges::find(report.strategies, name, [](const StrategyReport& s) {
    return std::string_view(s.result.name);
  });
}

// The plan that is worth carrying out.
const StrategyReport& keep(PlanReport& report) {
  const StrategyReport& plan = strategy(report, "switch-aware");
  report.kept = "switch-aware";
  if (!report.measured) return plan;
  const StrategyReport& uniform = strategy(report, "uniform");
  const double more = plan.result.saved - uniform.result.saved;
  const PlanError error =
      error_between(*report.measured, plan.result.wanted, uniform.result.wanted);
  if (plan.claimed && more > error.saved) return plan;
  report.kept = uniform.claimed ? "uniform" : "default";
  return strategy(report, report.kept);
}

}  // namespace

Result<PlanReport> make_plan_report(const Network& network, const GpuSheet& sheet,
                                    const PlanOptions& options) {
  PlanReport report;
  report.stages = make_stages(network, {.precision = options.precision,
                                        .scope = options.scope,
                                        .fuse = options.fuse,
                                        .l2_bytes = sheet.l2_mib * kMib,
                                        .micro_batches = options.micro_batches,
                                        .checkpoints = options.checkpoints,
                                        .gpus = options.gpus,
                                        .link_bytes_per_s = options.link_bytes_per_s});
  if (report.stages.empty()) {
    return Error{ErrorCode::kUsage, "this network has no layer that runs on a GPU",
                 "give another network or --phase"};
  }
  report.table = make_cost_table(sheet, report.stages, options.efficiency,
                                 options.measured ? options.measured->step_clock : std::nullopt);
  if (options.measured) {
    ASSIGN_OR_RETURN(report.measured, apply_measured(*options.measured, sheet, report.stages,
                                                     options.efficiency, report.table));
    RETURN_IF_ERROR(check_network(*options.measured, network, report));
    report.table = report.measured->table;
  }
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
  run_strategies(report, input, options);
  report.segments = segments_of(report.table, keep(report).result.wanted);
  if (options.break_even) report.break_even = find_break_even(input, options.switching);
  return report;
}

}  // namespace hypermile
