// SPDX-License-Identifier: Apache-2.0
//
// The JSON document of `hypermile plan`.
#include <nlohmann/json.hpp>

#include "plan/plan_document.h"

namespace hypermile {
namespace {

using nlohmann::json;

json seconds(const std::optional<Seconds>& value) {
  return value ? json(value->value()) : json(nullptr);
}

json layer_json(const PlanReport& report, std::size_t i, double whole) {
  const PlanStage& stage = report.stages[i];
  const StageIdle& idle = report.strategies.front().idle[i];
  return {{"name", stage.name},
          {"type", stage.type},
          {"phase", to_string(stage.phase)},
          {"flops", stage.flops},
          {"bytes", stage.bytes},
          {"intensity", stage.intensity()},
          {"class", report.memory_bound[i] ? "memory" : "compute"},
          {"time_s", report.costs[i].time_s},
          {"energy_j", report.costs[i].energy_j},
          {"share", report.costs[i].time_s / whole},
          {"idle_compute_s", idle.compute_s},
          {"idle_memory_s", idle.memory_s}};
}

// The setting of a strategy that wants one setting for every stage; null for other strategies.
json only_setting(const PlanReport& report, const Assignment& wanted) {
  const auto& choices = report.table.choices;
  for (const auto choice : wanted) {
    if (choices[choice].setting != choices[wanted.front()].setting) return nullptr;
  }
  return to_string(choices[wanted.front()].setting);
}

json strategy_json(const PlanReport& report, const StrategyReport& strategy) {
  json compute = json::array(), memory = json::array();
  for (const StageIdle& idle : strategy.idle) {
    compute.push_back(idle.compute_s);
    memory.push_back(idle.memory_s);
  }
  const StrategyResult& result = strategy.result;
  return {{"name", result.name},
          {"setting", only_setting(report, result.wanted)},
          {"time_s", result.totals.time_s},
          {"energy_j", result.totals.energy_j},
          {"saved_pct", 100 * result.saved},
          {"slowdown_pct", 100 * result.slowdown},
          {"switches", result.totals.switches},
          {"mean_power_w", result.totals.energy_j / result.totals.time_s},
          {"idle_compute_s", strategy.idle_sum.compute_s},
          {"idle_memory_s", strategy.idle_sum.memory_s},
          {"layer_idle_compute_s", std::move(compute)},
          {"layer_idle_memory_s", std::move(memory)}};
}

json efficiency_json(const PlanDocument& document) {
  json constants;
  const auto names = Efficiency::names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    constants[std::string(names[i])] = document.options.efficiency.values[i];
  }
  json result = {{"constants", std::move(constants)}};
  if (!document.calibration) return result;
  const CalibrationScore& score = document.calibration->score;
  result["file"] = document.calibration->file;
  result["shapes"] = score.shapes;
  result["mean_error_pct"] = 100 * score.mean_error;
  result["total_error_pct"] = 100 * score.total_error;
  return result;
}

}  // namespace

json to_json(const PlanDocument& document) {
  const PlanReport& report = document.report;
  const double whole = report.strategies.front().result.totals.time_s;
  json layers = json::array();
  for (std::size_t i = 0; i < report.stages.size(); ++i) {
    layers.push_back(layer_json(report, i, whole));
  }
  json strategies = json::array();
  for (const StrategyReport& strategy : report.strategies) {
    strategies.push_back(strategy_json(report, strategy));
  }
  json segments = json::array();
  for (const PlanSegment& segment : report.segments) {
    segments.push_back({{"from", report.stages[segment.from].name},
                        {"to", report.stages[segment.to].name},
                        {"first", segment.from},
                        {"last", segment.to},
                        {"from_phase", to_string(report.stages[segment.from].phase)},
                        {"to_phase", to_string(report.stages[segment.to].phase)},
                        {"setting", to_string(segment.choice.setting)},
                        {"time_s", segment.time_s}});
  }
  json unknown = json::array();
  for (const UnknownOperator& op : document.network.unknown) {
    unknown.push_back({{"type", op.type}, {"count", op.count}});
  }
  return {{"network", document.network.name},
          {"gpu", document.sheet.key},
          {"batch", document.network.batch},
          {"precision", to_string(document.options.precision)},
          {"phase", document.phase},
          {"max_slowdown", document.options.max_slowdown},
          {"switch_latency_s", report.latency.value()},
          {"unknown_operators", std::move(unknown)},
          {"efficiency", efficiency_json(document)},
          {"layers", std::move(layers)},
          {"strategies", std::move(strategies)},
          {"segments", std::move(segments)},
          {"break_even_switch_latency_s",
           {{"layer", seconds(report.break_even.layer)},
            {"segment", seconds(report.break_even.segment)},
            {"phase", seconds(report.break_even.phase)}}}};
}

}  // namespace hypermile
