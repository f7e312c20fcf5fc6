// SPDX-License-Identifier: Apache-2.0
//
// The switch-aware planner on 1,000 stages with 110 SM and 5 memory clocks: pruning and planning.
#include <benchmark/benchmark.h>

#include <cmath>

#include "base/random.h"
#include "plan/builtin_networks.h"
#include "plan/cost_table.h"
#include "plan/plan_prune.h"
#include "plan/planner.h"
#include "plan/switching.h"

namespace hypermile {
namespace {

// Layers like those of a network on an RTX 3080 Ti.
PlanProblem large_problem(double switch_share) {
  constexpr std::size_t kStages = 1000, kClocks = 110;
  constexpr double kGears[] = {1, 0.97, 0.53, 0.085, 0.043};
  Random random(1);
  PlanProblem problem;
  problem.stages = kStages;
  problem.choices = kClocks * std::size(kGears);
  for (std::size_t stage = 0; stage < kStages; ++stage) {
    const double compute = std::exp(random.uniform(-3, 1)), bytes = std::exp(random.uniform(-3, 1));
    std::uint32_t gear = 0;
    for (const double memory : kGears) {
      for (std::size_t c = 0; c < kClocks; ++c) {
        const double sm = 1 - 0.8 * static_cast<double>(c) / kClocks;
        const double voltage = 1 + std::max(0.0, sm - 0.6);
        const double reach = std::min(memory, 0.2 + 1.2 * sm);
        const double time = std::hypot(compute / sm, bytes / reach) + 0.005;
        const double power = 60 + 30 * memory +
                             sm * voltage * voltage * (50 + 120 * compute / sm / time) +
                             60 * bytes / time;
        problem.costs.push_back({1e-3 * time, 1e-3 * time * power});
        if (stage == 0) problem.gear.push_back(gear);
      }
      ++gear;
    }
  }
  const double whole = uniform_totals(problem, 0).time_s;
  problem.time_limit_s = 1.05 * whole;
  problem.sm.spacing_s = switch_share * whole;
  problem.memory = {2 * problem.sm.spacing_s, 0.001 * switch_share * whole, 0};
  return problem;
}

void plan_after_pruning(benchmark::State& state) {
  const PrunedProblem pruned = prune(large_problem(static_cast<double>(state.range(0)) / 1000));
  for (auto _ : state) benchmark::DoNotOptimize(lagrange_plan(pruned.problem));
  state.counters["choices"] = static_cast<double>(pruned.problem.choices);
}
BENCHMARK(plan_after_pruning)->Arg(0)->Arg(2)->Arg(20)->Arg(200)->Unit(benchmark::kMillisecond);

void prune_choices(benchmark::State& state) {
  const PlanProblem problem = large_problem(0.02);
  for (auto _ : state) benchmark::DoNotOptimize(prune(problem));
}
BENCHMARK(prune_choices)->Unit(benchmark::kMillisecond);

void resnet50_training(benchmark::State& state) {
  const GpuSheet sheet = *load_gpu_sheet("a4000");
  const auto stages = make_stages(*builtin_network("resnet50", 32), {});
  const CostTable table = make_cost_table(sheet, stages, {});
  const PlanProblem problem = make_problem(sheet, table, 0.05, {});
  for (auto _ : state) benchmark::DoNotOptimize(make_plan(problem));
}
BENCHMARK(resnet50_training)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hypermile
