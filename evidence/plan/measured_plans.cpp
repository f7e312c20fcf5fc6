// SPDX-License-Identifier: Apache-2.0
#include "evidence/plan/measured_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/random.h"
#include "plan/builtin_networks.h"
#include "plan/plan_report.h"
#include "plan/simulated_profile.h"

namespace hypermile {
namespace {

constexpr double kBound = 0.05;
constexpr double kLatency = 0.005;  // s
constexpr double kSpread = 0.35;    // standard deviation of the logarithm of a card's constants
constexpr std::size_t kCards = 4;   // with different kernels, for each model of card and network
constexpr std::size_t kClocks = 8;  // measured SM clocks at each memory clock
constexpr double kNoise = 0.01;

struct Case {
  const char* gpu;
  const char* network;
  std::int64_t batch;
  Precision precision;
};
constexpr Case kCases[] = {{"a4000", "resnet50", 32, Precision::kTf32},
                           {"a4000", "vgg16", 32, Precision::kTf32},
                           {"rtx3080ti", "bert-base", 16, Precision::kBf16},
                           {"h200", "gpt2", 8, Precision::kBf16}};

Efficiency drawn_kernels(std::uint64_t seed) {
  Random random(seed);
  Efficiency kernels;
  for (std::size_t i = 0; i < kEfficiencyConstants; ++i) {
    const double most = i < 2 ? 1e-3 : 1;  // the first two are times, the others are shares
    kernels.values[i] = std::min(most, kernels.values[i] * std::exp(kSpread * random.gaussian()));
  }
  return kernels;
}

// Every eighth or so of the offered SM clocks, at every memory clock above a quarter of the
// default.
std::vector<Setting> grid(const std::vector<Choice>& choices) {
  std::vector<Setting> settings;
  for (const Choice& open : choices) {
    if (open.setting.sm_clock || open.memory < choices.front().memory * 0.25) continue;
    settings.push_back(open.setting);
    std::vector<Setting> locked;
    for (const Choice& choice : choices) {
      if (choice.memory == open.memory && choice.setting.sm_clock) locked.push_back(choice.setting);
    }
    for (std::size_t i = 0; i < kClocks && !locked.empty(); ++i) {
      settings.push_back(locked[i * (locked.size() - 1) / (kClocks - 1)]);
    }
  }
  return settings;
}

struct Outcome {
  double saved = 0, slowdown = 0;
};

// What an assignment by settings does on the card.
Outcome carried_out(const PlanReport& report, const CostTable& truth, const PlanProblem& problem) {
  StrategyResult result;
  const StrategyReport& kept =
      *std::ranges::find(report.strategies, report.kept,
                         [](const StrategyReport& s) { return std::string_view(s.result.name); });
  for (const std::uint32_t wanted : kept.result.wanted) {
    const Choice& asked = report.table.choices[wanted];
    // A clock above what the power limit allows is the limit's.
    std::uint32_t at = 0;
    for (std::uint32_t c = 0; c < truth.choices.size(); ++c) {
      if (truth.choices[c].setting == asked.setting) at = c;
      if (at == 0 && asked.setting.sm_clock && !truth.choices[c].setting.sm_clock &&
          truth.choices[c].memory == asked.memory) {
        at = c;
      }
    }
    result.wanted.push_back(at);
  }
  judge(result, problem);
  return {result.saved, result.slowdown};
}

struct Row {
  double promised_model = 0, promised_measured = 0, error = 0, covered = 0;
  Outcome model, measured, oracle;
  bool differ = false;
};

Row play(const Case& its, std::uint64_t seed) {
  const GpuSheet sheet = *load_gpu_sheet(its.gpu);
  const Network network = *builtin_network(its.network, its.batch);
  const Efficiency kernels = drawn_kernels(seed);
  PlanOptions options;
  options.precision = its.precision;
  options.max_slowdown = kBound;
  options.switching.latency = Seconds(kLatency);
  options.break_even = false;
  const PlanReport modelled = *make_plan_report(network, sheet, options);
  PlanOptions knowing = options;
  knowing.efficiency = kernels;
  const PlanReport oracle = *make_plan_report(network, sheet, knowing);
  SimulatedProfile how;
  how.precision = its.precision;
  how.settings = grid(oracle.table.choices);
  how.kernels = kernels;
  how.noise = kNoise;
  how.seed = seed;
  std::istringstream file(simulated_profile(network, sheet, how));
  options.measured = *read_measured_layers(file, "simulated", its.precision);
  const PlanReport measured = *make_plan_report(network, sheet, options);
  const PlanProblem problem = make_problem(sheet, oracle.table, kBound, options.switching);
  Row row;
  row.promised_model = modelled.strategies.back().result.saved;
  row.promised_measured = measured.strategies.back().result.saved;
  row.error = measured.strategies.back().error.saved;
  row.covered = measured.measured->covered_time;
  row.model = carried_out(modelled, oracle.table, problem);
  row.measured = carried_out(measured, oracle.table, problem);
  row.oracle = carried_out(oracle, oracle.table, problem);
  row.differ = modelled.segments.size() != measured.segments.size() ||
               modelled.strategies.back().result.wanted != measured.strategies.back().result.wanted;
  return row;
}

}  // namespace

std::string measured_plans_evidence() {
  std::string out = fmt::format(
      "**Simulated.** Each card's kernels reach other shares of the peak rates than the planner "
      "assumes (the twelve constants scatter by a factor of {:.2f}). Layers are profiled at {} SM "
      "clocks of each memory clock with {:.0f} % noise; a switch takes {:.0f} ms; the bound is "
      "{:.0f} %. `promised` is what the plan says, `true` is what the card then does: energy saved "
      "/ time added. The last column is the plan of somebody who knows the card.\n\n"
      "| card, network | kernels | model: promised | model: true | measured: promised | measured: "
      "true | best possible |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |\n",
      std::exp(kSpread), kClocks, 100 * kNoise, 1e3 * kLatency, 100 * kBound);
  std::size_t rows = 0, differ = 0, model_late = 0, measured_late = 0, within = 0;
  double model = 0, measured = 0, oracle = 0;
  for (const Case& its : kCases) {
    for (std::uint64_t card = 1; card <= kCards; ++card) {
      const Row row = play(its, card);
      out += fmt::format(
          "| {} {} {} | {} | {:.1f} % | {:.1f} % / {:+.1f} % | {:.1f} ± {:.1f} % | {:.1f} % / "
          "{:+.1f} % | {:.1f} % / {:+.1f} % |\n",
          its.gpu, its.network, to_string(its.precision), card, 100 * row.promised_model,
          100 * row.model.saved, 100 * row.model.slowdown, 100 * row.promised_measured,
          100 * row.error, 100 * row.measured.saved, 100 * row.measured.slowdown,
          100 * row.oracle.saved, 100 * row.oracle.slowdown);
      ++rows;
      differ += row.differ;
      model_late += row.model.slowdown > kBound + 0.001;
      measured_late += row.measured.slowdown > kBound + 0.001;
      within += std::abs(row.promised_measured - row.measured.saved) <= row.error + 0.01;
      model += row.model.saved;
      measured += row.measured.saved;
      oracle += row.oracle.saved;
    }
  }
  const double n = static_cast<double>(rows);
  out += fmt::format(
      "\nThe measured plan differs from the modelled one in {} of {} cases. Beyond the bound by "
      "more "
      "than 0.1 %: modelled {}, measured {}. Mean saving on the card: modelled {:.1f} %, measured "
      "{:.1f} %, best possible {:.1f} %. What the measured plan promised holds within its error "
      "and "
      "one percent in {} of {}.\n",
      differ, rows, model_late, measured_late, 100 * model / n, 100 * measured / n,
      100 * oracle / n, within, rows);
  return out;
}

}  // namespace hypermile
