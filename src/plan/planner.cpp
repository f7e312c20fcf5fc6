// SPDX-License-Identifier: Apache-2.0
#include "plan/planner.h"

#include <algorithm>

#include "plan/lagrange_dp.h"
#include "plan/plan_fill.h"
#include "plan/plan_prune.h"
#include "plan/plan_refine.h"

namespace hypermile {
namespace {

constexpr std::size_t kExactly = 48;      // most stages × choices for which the plan is exact
constexpr std::size_t kMostChoices = 48;  // most choices in the dynamic program
constexpr int kMultipliers = 24;
constexpr double kNoGain = 1e-5;

// The candidates for one multiplier: the dynamic program's plan, and one choice throughout.
class Candidates {
 public:
  explicit Candidates(const PlanProblem& problem) : problem_(problem) {
    for (std::size_t c = 0; c < problem.choices; ++c) {
      uniform_.push_back(uniform_totals(problem, c));
    }
    if (!problem.free_switching()) dp_.emplace(problem);
  }

  Plan best(double multiplier) {
    const auto value = [&](const PlanTotals& t) { return t.energy_j + multiplier * t.time_s; };
    const auto least = std::ranges::min_element(uniform_, {}, value);
    Plan plan{Assignment(problem_.stages, static_cast<std::uint32_t>(least - uniform_.begin())),
              *least};
    const std::optional<Assignment> other = dp_ ? dp_->solve(multiplier) : each(multiplier);
    if (!other) return plan;
    const auto totals = evaluate(problem_, *other);
    if (totals && value(*totals) < value(plan.totals)) plan = {*other, *totals};
    return plan;
  }

 private:
  // With free switching, every stage is optimised by itself.
  std::optional<Assignment> each(double multiplier) const {
    Assignment assignment(problem_.stages, 0);
    for (std::size_t i = 0; i < problem_.stages; ++i) {
      double least = 0;
      for (std::uint32_t c = 0; c < problem_.choices; ++c) {
        const double value = problem_.at(i, c).energy_j + multiplier * problem_.at(i, c).time_s;
        if (c > 0 && value >= least) continue;
        least = value;
        assignment[i] = c;
      }
    }
    return assignment;
  }

  const PlanProblem& problem_;
  std::vector<PlanTotals> uniform_;
  std::optional<LagrangeDp> dp_;
};

Plan better(const Plan& a, const Plan& b) {
  return b.totals.energy_j < a.totals.energy_j ? b : a;
}

// The two plans on the convex hull on either side of the limit; equal where the limit does not
// bind.
struct Bracket {
  Plan within, beyond;
};

Bracket search(const PlanProblem& problem) {
  const auto uniform = static_cast<std::uint32_t>(best_uniform(problem));
  Candidates candidates(problem);
  Bracket found{{Assignment(problem.stages, uniform), uniform_totals(problem, uniform)},
                candidates.best(0)};
  auto& [within, beyond] = found;
  if (beyond.totals.time_s <= problem.time_limit_s) {
    within = beyond;
    return found;
  }
  for (int i = 0; i < kMultipliers; ++i) {
    const double multiplier = (within.totals.energy_j - beyond.totals.energy_j) /
                              (beyond.totals.time_s - within.totals.time_s);
    Plan next = candidates.best(multiplier);
    const double line = within.totals.energy_j + multiplier * within.totals.time_s;
    const double value = next.totals.energy_j + multiplier * next.totals.time_s;
    if (!(value < line * (1 - kNoGain))) break;
    const bool fits = next.totals.time_s <= problem.time_limit_s;
    (fits ? within : beyond) = std::move(next);
  }
  return found;
}

void renumber(Plan& plan, const std::vector<std::uint32_t>& original) {
  for (std::uint32_t& choice : plan.choice) choice = original[choice];
}

}  // namespace

Plan lagrange_plan(const PlanProblem& whole) {
  const PrunedProblem pruned = prune(whole);
  const PlanProblem& problem = pruned.problem;
  // With free switching, stages are independent and all choices can be considered cheaply.
  const bool free = problem.free_switching();
  const PrunedProblem thin = thin_out(problem, free ? problem.choices : kMostChoices);
  Bracket bracket = search(thin.problem);
  renumber(bracket.within, thin.original);
  renumber(bracket.beyond, thin.original);
  const auto uniform = static_cast<std::uint32_t>(best_uniform(problem));
  Plan best{Assignment(problem.stages, uniform), uniform_totals(problem, uniform)};
  best = better(best, bracket.within);
  if (free) best = better(best, fill_up(problem, bracket.within, bracket.beyond.choice));
  for (const Assignment& start : {bracket.beyond.choice, best.choice}) {
    if (const auto refined = refine(problem, start)) best = better(best, *refined);
  }
  renumber(best, pruned.original);
  return best;
}

Plan make_plan(const PlanProblem& problem) {
  if (problem.stages * problem.choices <= kExactly) return exact_plan(problem);
  return lagrange_plan(problem);
}

}  // namespace hypermile
