// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_fill.h"

#include <algorithm>

namespace hypermile {
namespace {

constexpr std::size_t kFills = 64;

// Makes the one change of one stage that saves most within the limit; false where there is none.
bool fill_once(const PlanProblem& problem, Assignment& assignment, double& time) {
  double most = 0, longer = 0;
  std::size_t stage = 0;
  std::uint32_t choice = 0;
  for (std::size_t i = 0; i < problem.stages; ++i) {
    const StageCost& now = problem.at(i, assignment[i]);
    for (std::uint32_t c = 0; c < problem.choices; ++c) {
      const StageCost& then = problem.at(i, c);
      const double saved = now.energy_j - then.energy_j;
      if (saved <= most || time + then.time_s - now.time_s > problem.time_limit_s) continue;
      most = saved;
      longer = then.time_s - now.time_s;
      stage = i;
      choice = c;
    }
  }
  if (most <= 0) return false;
  assignment[stage] = choice;
  time += longer;
  return true;
}

}  // namespace

Plan fill_up(const PlanProblem& problem, const Plan& within, const Assignment& beyond) {
  struct Trade {
    std::size_t stage;
    double time_s, energy_j;  // added time, saved energy
  };
  std::vector<Trade> trades;
  for (std::size_t i = 0; i < problem.stages; ++i) {
    const StageCost& now = problem.at(i, within.choice[i]);
    const StageCost& then = problem.at(i, beyond[i]);
    const Trade trade{i, then.time_s - now.time_s, now.energy_j - then.energy_j};
    if (trade.energy_j > 0) trades.push_back(trade);
  }
  std::ranges::sort(trades, [](const Trade& a, const Trade& b) {
    return a.energy_j * std::max(b.time_s, 0.0) > b.energy_j * std::max(a.time_s, 0.0);
  });
  Plan plan = within;
  double time = within.totals.time_s;
  for (const Trade& trade : trades) {
    if (time + trade.time_s > problem.time_limit_s) continue;
    time += trade.time_s;
    plan.choice[trade.stage] = beyond[trade.stage];
  }
  for (std::size_t i = 0; i < kFills && fill_once(problem, plan.choice, time); ++i) {
  }
  plan.totals = *evaluate(problem, plan.choice);
  return plan.totals.time_s <= problem.time_limit_s ? plan : within;
}

}  // namespace hypermile
