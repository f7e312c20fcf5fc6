// SPDX-License-Identifier: Apache-2.0
//
// The tables of a plan, for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "plan/plan_document.h"

namespace hypermile {
namespace {

constexpr std::size_t kLongest = 15;  // layers that are shown unless all are wanted
constexpr std::size_t kNameWidth = 22;

std::string short_name(const std::string& name) {
  return name.size() <= kNameWidth ? name : name.substr(0, kNameWidth - 1) + "~";
}

std::string layer_table(const PlanReport& report, bool every_layer) {
  std::vector<std::size_t> order(report.stages.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!every_layer && order.size() > kLongest) {
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](std::size_t i) { return report.costs[i].time_s; });
    order.resize(kLongest);
  }
  const double whole = report.strategies.front().result.totals.time_s;
  std::string out =
      fmt::format("{:<{}} {:<8} {:>8} {:>7} {:>6} {:<7} {:>8} {:>5}\n", "layer", kNameWidth,
                  "phase", "GFLOP", "MB", "FLOP/B", "bound", "time ms", "share");
  for (const std::size_t i : order) {
    const PlanStage& stage = report.stages[i];
    const double time = report.costs[i].time_s;
    out +=
        fmt::format("{:<{}} {:<8} {:>8.2f} {:>7.1f} {:>6.1f} {:<7} {:>8.3f} {:>4.1f}%\n",
                    short_name(stage.name), kNameWidth, to_string(stage.phase), stage.flops / 1e9,
                    stage.bytes / 1e6, stage.intensity(),
                    report.memory_bound[i] ? "memory" : "compute", 1e3 * time, 100 * time / whole);
  }
  if (order.size() < report.stages.size()) {
    out += fmt::format("the {} longest of {}; --layers shows all\n", order.size(),
                       report.stages.size());
  }
  return out;
}

std::string strategy_table(const PlanReport& report) {
  std::string out = fmt::format("{:<19} {:>10} {:>10} {:>8} {:>9} {:>8} {:>7}\n", "strategy",
                                "time ms", "energy J", "saved", "slowdown", "switches", "mean W");
  for (const StrategyReport& strategy : report.strategies) {
    const StrategyResult& r = strategy.result;
    out += fmt::format("{:<19} {:>10.3f} {:>10.4f} {:>7.2f}% {:>8.2f}% {:>8} {:>7.1f}\n", r.name,
                       1e3 * r.totals.time_s, r.totals.energy_j, 100 * r.saved, 100 * r.slowdown,
                       r.totals.switches, r.totals.energy_j / r.totals.time_s);
  }
  return out;
}

// What the errors of measurement mean for each strategy.
std::string claims(const PlanReport& report) {
  std::string out;
  for (const StrategyReport& strategy : report.strategies) {
    if (strategy.result.name == "default") continue;
    out += fmt::format("  {:<19} saves {:>6.2f} % ± {:.2f} %{}\n", strategy.result.name,
                       100 * strategy.result.saved, 100 * strategy.error.saved,
                       strategy.claimed ? "" : ": not claimed, because the error is larger");
  }
  return "with the errors of measurement (95 %):\n" + out;
}

std::string origin(const PlanDocument& document) {
  if (!document.report.measured) {
    return "Modelled, not measured: times and energies follow from the GPU's sheet.\n";
  }
  const MeasuredTable& measured = *document.report.measured;
  return fmt::format(
      "Measured: {} of {} layers and passes at {} settings ({}), {:.0f} % of the time; between "
      "measured clocks interpolated, elsewhere modelled and scaled ({:.2f} times the model's "
      "time).\n",
      measured.layers, document.report.stages.size(), document.options.measured->settings.size(),
      document.options.measured->file, 100 * measured.covered_time, measured.time_ratio);
}

std::string segment_list(const PlanReport& report) {
  std::string out = fmt::format("the plan ({}):\n", report.kept);
  for (const PlanSegment& segment : report.segments) {
    out += fmt::format(
        "  {:>9.3f} ms at {}\n            {} ({}) to {} ({})\n", 1e3 * segment.time_s,
        to_string(segment.choice.setting), short_name(report.stages[segment.from].name),
        to_string(report.stages[segment.from].phase), short_name(report.stages[segment.to].name),
        to_string(report.stages[segment.to].phase));
  }
  return out;
}

std::string duration(const std::optional<Seconds>& value) {
  if (!value) return "never";
  if (value->value() < 1e-3) return fmt::format("{:.0f} us", 1e6 * value->value());
  return fmt::format("{:.1f} ms", 1e3 * value->value());
}

}  // namespace

std::string to_table(const PlanDocument& document, bool every_layer) {
  const PlanReport& report = document.report;
  const Choice& normal = report.table.choices.front();
  std::string out = fmt::format(
      "{} at batch {}, {}, {} on {}\n"
      "default: {:.0f} MHz SM{}, {:.0f} MHz memory, ridge {:.0f} FLOP/B\n",
      document.network.name, document.network.batch, to_string(document.options.precision),
      document.phase, document.sheet.name, normal.sm.value(),
      normal.capped ? " (held by the power limit)" : "", normal.memory.value(), report.ridge);
  if (document.calibration) {
    const CalibrationScore& score = document.calibration->score;
    out += fmt::format(
        "calibrated on {} ({} shapes): mean error {:.1f} %, all layers together {:+.1f} %\n",
        document.calibration->file, score.shapes, 100 * score.mean_error, 100 * score.total_error);
  }
  out += "\n" + layer_table(report, every_layer) + "\n";
  out += fmt::format("at most {:.1f} % slower; a switch takes {:.3g} ms\n",
                     100 * document.options.max_slowdown, 1e3 * report.latency.value());
  out += strategy_table(report) + "\n";
  if (report.measured) out += claims(report) + "\n";
  out += segment_list(report);
  out += fmt::format(
      "\nto pay, a switch has to take effect within {} for layers,\n"
      "{} for segments, {} for phases\n",
      duration(report.break_even.layer), duration(report.break_even.segment),
      duration(report.break_even.phase));
  out += origin(document);
  return out;
}

}  // namespace hypermile
