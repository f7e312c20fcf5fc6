// SPDX-License-Identifier: Apache-2.0
#include "plan/switching.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "sim/part_rate.h"

namespace hypermile {
namespace {

// The 90th percentile of a lognormal delay, from its median and 99th percentile.
double nine_in_ten(const DelayModel& delay) {
  const double sigma = std::log(delay.p99 / delay.median) / normal_quantile(0.99);
  return delay.median.value() * std::exp(normal_quantile(0.9) * sigma);
}

// The power that the board draws while nothing runs at its default clocks.
double waiting_watts(const GpuConstants& gpu) {
  PartWork nothing;
  nothing.host = Seconds(1);
  const double leakage = gpu.power.leakage.value();
  const PartRate rate = part_rate(gpu, {}, nothing, gpu.clocks.sm_boost.value(),
                                  gpu.clocks.memory_default.value(), leakage, 0);
  return mean_power(rate, 1, leakage);
}

}  // namespace

Seconds latency_of(const GpuSheet& sheet, const Switching& switching) {
  return switching.latency.value_or(Seconds(nine_in_ten(sheet.constants.switching.sm)));
}

PlanProblem make_problem(const GpuSheet& sheet, const CostTable& table, double max_slowdown,
                         const Switching& switching) {
  const SwitchModel& model = sheet.constants.switching;
  const double latency = latency_of(sheet, switching).value();
  const double scale = latency / nine_in_ten(model.sm);
  const double shortest = switching.most_per_second > 0 ? 1 / switching.most_per_second : 0;
  const double waiting = waiting_watts(sheet.constants);
  PlanProblem problem;
  problem.stages = table.stages;
  problem.choices = table.choices.size();
  problem.costs = table.costs;
  std::vector<Mhz> gears;
  for (const Choice& choice : table.choices) {
    const auto found = std::ranges::find(gears, choice.memory);
    problem.gear.push_back(static_cast<std::uint32_t>(found - gears.begin()));
    if (found == gears.end()) gears.push_back(choice.memory);
  }
  problem.sm = {std::max(latency, shortest), switching.call.value(), 0};
  problem.memory = {std::max(nine_in_ten(model.memory) * scale, shortest),
                    switching.call.value() + model.memory_stall.value() * scale, 0};
  for (SwitchPrice* price : {&problem.sm, &problem.memory}) {
    price->lost_j = price->lost_s * waiting;
  }
  problem.time_limit_s = table.uniform(0).time_s * (1 + max_slowdown);
  return problem;
}

}  // namespace hypermile
