// SPDX-License-Identifier: Apache-2.0
//
// The JSON document of `hypermile plan`.
#include <map>
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
  json layer = {{"name", stage.name},
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
  if (report.measured) {
    const Cell& cell = report.measured->cell(i, 0);
    layer["time_from"] = to_string(cell.time);
    layer["energy_from"] = to_string(cell.energy);
    layer["time_error_pct"] = 100 * cell.time_error;
    layer["energy_error_pct"] = 100 * cell.energy_error;
  }
  return layer;
}

// What the plan's costs rest on, in shares of its time.
json time_by_origin(const PlanReport& report, const Assignment& wanted) {
  std::map<std::string_view, double> shares;
  double whole = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double time = report.table.at(i, wanted[i]).time_s;
    shares[to_string(report.measured->cell(i, wanted[i]).energy)] += time;
    whole += time;
  }
  json result = json::object();
  for (const auto& [origin, time] : shares) result[std::string(origin)] = 100 * time / whole;
  return result;
}

json measured_json(const PlanDocument& document) {
  const MeasuredTable& measured = *document.report.measured;
  json settings = json::array();
  for (const Setting& setting : document.options.measured->settings) {
    settings.push_back(to_string(setting));
  }
  return {{"file", document.options.measured->file},
          {"settings", std::move(settings)},
          {"layers", measured.layers},
          {"covered_pct", 100 * measured.covered_time},
          {"time_to_model", measured.time_ratio},
          {"energy_to_model", measured.energy_ratio},
          {"model_error_pct", 100 * measured.model_error}};
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
  json written = {{"name", result.name},
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
  if (report.measured) {
    written["saved_error_pct"] = 100 * strategy.error.saved;
    written["slowdown_error_pct"] = 100 * strategy.error.slowdown;
    written["claimed"] = strategy.claimed;
    written["time_pct_from"] = time_by_origin(report, result.wanted);
  }
  return written;
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
  json result = {{"network", document.network.name},
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
                   {"phase", seconds(report.break_even.phase)}}},
                 {"kept", report.kept}};
  if (report.measured) result["measured"] = measured_json(document);
  return result;
}

}  // namespace hypermile
