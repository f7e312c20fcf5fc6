// SPDX-License-Identifier: Apache-2.0
#include "plan/planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "plan/plan_prune.h"

namespace hypermile {
namespace {

// Costs that resemble layers: a compute part and a memory part, which are faster at higher clocks,
// and power that rises with the clocks.
PlanProblem random_problem(Random& random, std::size_t stages, std::size_t clocks,
                           std::size_t gears) {
  PlanProblem problem;
  problem.stages = stages;
  problem.choices = clocks * gears;
  std::vector<double> sm, memory;
  for (std::size_t g = 0; g < gears; ++g) {
    for (std::size_t c = 0; c < clocks; ++c) {
      sm.push_back(1 - 0.6 * static_cast<double>(c) / static_cast<double>(clocks));
      memory.push_back(1 - 0.5 * static_cast<double>(g) / static_cast<double>(gears));
      problem.gear.push_back(static_cast<std::uint32_t>(g));
    }
  }
  for (std::size_t i = 0; i < stages; ++i) {
    const double compute = random.uniform(0.1, 2), bytes = random.uniform(0.1, 2);
    const double scatter = random.uniform(0, 0.05);
    for (std::size_t c = 0; c < problem.choices; ++c) {
      const double time = std::hypot(compute / sm[c], bytes / memory[c]);
      const double power = 30 + 20 * memory[c] + 100 * std::pow(sm[c], 3) * (compute / time);
      problem.costs.push_back({time, time * power * (1 + scatter * random.uniform())});
    }
  }
  problem.time_limit_s = uniform_totals(problem, 0).time_s * (1 + random.uniform(0, 0.3));
  return problem;
}

void price(PlanProblem& problem, Random& random) {
  const double whole = uniform_totals(problem, 0).time_s;
  problem.sm = {whole * random.uniform(0, 0.6), 0, 0};
  problem.memory = {2 * problem.sm.spacing_s, whole * random.uniform(0, 0.02), 0};
  problem.memory.lost_j = 40 * problem.memory.lost_s;
}

double brute_force(const PlanProblem& problem) {
  double least = uniform_totals(problem, 0).energy_j;
  Assignment assignment(problem.stages, 0);
  while (true) {
    const auto totals = evaluate(problem, assignment);
    if (totals && totals->time_s <= problem.time_limit_s) {
      least = std::min(least, totals->energy_j);
    }
    std::size_t i = 0;
    while (i < problem.stages && ++assignment[i] == problem.choices) assignment[i++] = 0;
    if (i == problem.stages) return least;
  }
}

void expect_valid(const PlanProblem& problem, const Plan& plan) {
  const auto totals = evaluate(problem, plan.choice);
  ASSERT_TRUE(totals);
  EXPECT_LE(totals->time_s, problem.time_limit_s * (1 + 1e-9));
  EXPECT_NEAR(totals->energy_j, plan.totals.energy_j, 1e-9 * totals->energy_j);
  EXPECT_EQ(totals->switches, plan.totals.switches);
}

TEST(Planner, IsAsGoodAsBruteForce) {
  Random random(7);
  for (int i = 0; i < 3000; ++i) {
    const std::size_t stages = 2 + random.bits() % 5;
    PlanProblem problem = random_problem(random, stages, 2, 1 + random.bits() % 2);
    if (i % 4 != 0) price(problem, random);

    const Plan plan = make_plan(problem);

    expect_valid(problem, plan);
    ASSERT_LE(plan.totals.energy_j, brute_force(problem) * (1 + 1e-9)) << i;
  }
}

// The method for large problems, on small problems in which single stages have much weight.
TEST(Planner, ForLargeProblemsIsCloseToBruteForceOnSmallOnes) {
  Random random(8);
  double worst = 0, sum = 0;
  int beyond = 0;
  constexpr int kInstances = 2000;
  for (int i = 0; i < kInstances; ++i) {
    const std::size_t stages = 2 + random.bits() % 5;
    PlanProblem problem = random_problem(random, stages, 2, 1 + random.bits() % 2);
    if (i % 4 != 0) price(problem, random);

    const Plan plan = lagrange_plan(problem);

    expect_valid(problem, plan);
    const double excess = plan.totals.energy_j / brute_force(problem) - 1;
    worst = std::max(worst, excess);
    sum += excess;
    if (excess > 0.001) ++beyond;
  }
  RecordProperty("mean_excess_percent", std::to_string(100 * sum / kInstances));
  RecordProperty("worst_excess_percent", std::to_string(100 * worst));
  RecordProperty("beyond_a_thousandth", std::to_string(beyond));
  EXPECT_LT(sum / kInstances, 0.001);
}

TEST(Planner, WithFreeSwitchingIsTheOptimumOfEachStage) {
  Random random(9);
  for (int i = 0; i < 50; ++i) {
    PlanProblem problem = random_problem(random, 60, 8, 2);
    problem.time_limit_s = 1e9;  // no bound, so stages are independent

    const Plan plan = make_plan(problem);

    double least = 0;
    for (std::size_t stage = 0; stage < problem.stages; ++stage) {
      double best = 1e30;
      for (std::size_t c = 0; c < problem.choices; ++c) {
        best = std::min(best, problem.at(stage, c).energy_j);
      }
      least += best;
    }
    EXPECT_NEAR(plan.totals.energy_j, least, 1e-9 * least);
  }
}

// The convex hulls of the stages give a lower bound on the energy that no plan can beat.
double hull_bound(const PlanProblem& problem) {
  double best = -1e30;
  for (double multiplier = 0; multiplier < 400; multiplier += 0.25) {
    double value = -multiplier * problem.time_limit_s;
    for (std::size_t stage = 0; stage < problem.stages; ++stage) {
      double least = 1e30;
      for (std::size_t c = 0; c < problem.choices; ++c) {
        least = std::min(least,
                         problem.at(stage, c).energy_j + multiplier * problem.at(stage, c).time_s);
      }
      value += least;
    }
    best = std::max(best, value);
  }
  return best;
}

// Stages are a hundredth of the iteration and clocks 6 % apart, so a little of the bound stays
// unused.
TEST(Planner, WithFreeSwitchingUsesNearlyTheWholeBound) {
  Random random(10);
  for (int i = 0; i < 20; ++i) {
    const PlanProblem problem = random_problem(random, 100, 10, 2);

    const Plan plan = make_plan(problem);

    expect_valid(problem, plan);
    EXPECT_LE(plan.totals.energy_j, hull_bound(problem) * 1.003);
  }
}

TEST(Planner, KeepsOneSettingWhereASwitchTakesLongerThanTheIteration) {
  Random random(11);
  for (int i = 0; i < 200; ++i) {
    PlanProblem problem = random_problem(random, 5 + random.bits() % 40, 5, 2);
    double longest = 0;
    for (std::size_t c = 0; c < problem.choices; ++c) {
      longest = std::max(longest, uniform_totals(problem, c).time_s);
    }
    problem.sm.spacing_s = problem.memory.spacing_s = 1.01 * longest;

    const Plan plan = make_plan(problem);

    EXPECT_EQ(plan.totals.switches, 0U);
    EXPECT_EQ(plan.choice[0], best_uniform(problem));
  }
}

TEST(Planner, IsNeverWorseThanTheBestSingleSetting) {
  Random random(12);
  for (int i = 0; i < 200; ++i) {
    PlanProblem problem = random_problem(random, 2 + random.bits() % 60, 6, 2);
    price(problem, random);

    const Plan plan = make_plan(problem);

    expect_valid(problem, plan);
    EXPECT_LE(plan.totals.energy_j,
              uniform_totals(problem, best_uniform(problem)).energy_j * (1 + 1e-12));
  }
}

TEST(Planner, NeverSavesMoreWhereSwitchingCostsMore) {
  Random random(13);
  for (int i = 0; i < 300; ++i) {
    PlanProblem problem = random_problem(random, 2 + random.bits() % 5, 2, 2);
    const double whole = uniform_totals(problem, 0).time_s;
    double before = 0;
    for (int cost = 0; cost <= 12; ++cost) {
      problem.sm.spacing_s = whole * 0.05 * cost;
      problem.memory = {2 * problem.sm.spacing_s, whole * 0.002 * cost, whole * 0.1 * cost};

      const double energy = make_plan(problem).totals.energy_j;

      EXPECT_GE(energy, before * (1 - 1e-12));
      before = energy;
    }
  }
}

TEST(Pruning, KeepsTheDefaultFirstAndDropsWhatIsBeatenEverywhere) {
  PlanProblem problem;
  problem.stages = 2;
  problem.choices = 3;
  problem.gear = {0, 0, 0};
  problem.costs = {{1, 10}, {2, 11}, {2, 5}, {1, 10}, {2, 10}, {2, 5}};

  const PrunedProblem pruned = prune(problem);

  EXPECT_EQ(pruned.original, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(pruned.problem.costs.size(), 4U);
  EXPECT_DOUBLE_EQ(pruned.problem.at(1, 1).energy_j, 5);
}

PlanProblem two_stages(double spacing) {
  PlanProblem problem;
  problem.stages = 2;
  problem.choices = 2;
  problem.gear = {0, 0};
  problem.costs = {{1, 10}, {1, 5}, {1, 10}, {2, 30}};
  problem.sm.spacing_s = spacing;
  problem.memory.spacing_s = spacing;
  return problem;
}

TEST(Evaluation, RefusesChangesThatFollowTooSoon) {
  EXPECT_EQ(evaluate(two_stages(1), {1, 0})->switches, 2U);
  EXPECT_DOUBLE_EQ(evaluate(two_stages(1), {1, 0})->energy_j, 15);
  EXPECT_FALSE(evaluate(two_stages(1.1), {1, 0}));
  EXPECT_TRUE(evaluate(two_stages(1.1), {1, 1}));
}

TEST(Execution, IsThePlanWhereChangesAreInTime) {
  const PlanTotals totals = execute(two_stages(0.5), {1, 0});

  EXPECT_DOUBLE_EQ(totals.energy_j, 15);
  EXPECT_EQ(totals.switches, 2U);
}

// The only stage that wants another choice is so short that no request falls into it.
TEST(Execution, OfIterationsFarShorterThanALatencyEndsSoon) {
  PlanProblem problem;
  problem.stages = 9;
  problem.choices = 2;
  problem.gear = {0, 0};
  problem.costs.assign(18, {1e-6, 1e-4});
  problem.costs[16] = problem.costs[17] = {1e-12, 1e-10};
  problem.sm.spacing_s = problem.memory.spacing_s = 1;
  Assignment assignment(9, 0);
  assignment[8] = 1;

  const PlanTotals totals = execute(problem, assignment);

  EXPECT_NEAR(totals.time_s, 8e-6, 1e-9);
  EXPECT_EQ(totals.switches, 0U);
}

TEST(Execution, RunsAtOldSettingsWhereChangesComeTooLate) {
  const PlanTotals totals = execute(two_stages(1.5), {1, 0});

  // The plan wants 15 J in 2 s, which late changes cannot reach.
  EXPECT_GT(totals.energy_j, 15);
  EXPECT_LT(totals.energy_j, 35);
  EXPECT_GE(totals.time_s, 2 * (1 - 1e-9));
}

}  // namespace
}  // namespace hypermile
