// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_error.h"

#include <cmath>
#include <map>

namespace hypermile {
namespace {

constexpr double kWidth95 = 1.96;  // standard errors

// Sums of errors with one source, in joules and seconds.
struct Sum {
  double energy = 0, time = 0;
};

}  // namespace

PlanError error_between(const MeasuredTable& measured, const Assignment& a, const Assignment& b) {
  std::map<std::uint32_t, Sum> sources;
  const auto add = [&](std::size_t stage, std::size_t choice, double sign) {
    const Cell& cell = measured.cell(stage, choice);
    const StageCost& cost = measured.table.at(stage, choice);
    // The model may be wrong in the same way everywhere, so its errors do not cancel.
    const double s = cell.source == 0 ? 1 : sign;
    Sum& sum = sources[cell.source];
    sum.energy += s * cell.energy_error * cost.energy_j;
    sum.time += s * cell.time_error * cost.time_s;
  };
  for (std::size_t stage = 0; stage < measured.table.stages; ++stage) {
    if (a[stage] == b[stage]) continue;
    add(stage, a[stage], 1);
    add(stage, b[stage], -1);
  }
  double energy = 0, time = 0;
  for (const auto& [source, sum] : sources) {
    energy += sum.energy * sum.energy;
    time += sum.time * sum.time;
  }
  const StageCost normal = measured.table.uniform(0);
  return {kWidth95 * std::sqrt(energy) / normal.energy_j,
          kWidth95 * std::sqrt(time) / normal.time_s};
}

CostTable cautious(const MeasuredTable& measured) {
  CostTable table = measured.table;
  const std::size_t width = table.choices.size();
  for (std::size_t i = 0; i < table.costs.size(); ++i) {
    if (i % width == 0) continue;
    table.costs[i].time_s *= 1 + measured.cells[i].time_error;
    table.costs[i].energy_j *= 1 + measured.cells[i].energy_error;
  }
  return table;
}

}  // namespace hypermile
