// SPDX-License-Identifier: Apache-2.0
//
// The question a planner answers, and what an answer costs. Steps of an iteration that repeats are
// each given a choice (a Setting); least energy is wanted within a time. Changing costs:
//
//  - Requests are issued ahead, since iterations repeat, but they serialise: none takes effect
//    sooner after the one before than its latency. So what runs between two changes must last at
//    least the `spacing` of the second.
//  - A change may cost the GPU time (memory stands still while its clock moves).
//
// The iteration is a ring: after the last step comes the first.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "plan/cost_table.h"

namespace hypermile {

// Of one change of Setting.
struct SwitchPrice {
  double spacing_s = 0;  // what ran before must have lasted this long
  double lost_s = 0;     // the GPU stands still
  double lost_j = 0;     // … and draws this meanwhile
};

struct PlanProblem {
  std::size_t steps = 0;
  std::size_t choices = 0;          // the default is choice 0
  std::vector<StepCost> costs;      // step-major
  std::vector<std::uint32_t> gear;  // which memory clock each choice has; 0 is the default's
  SwitchPrice sm, memory;           // a change of the SM clock alone, and one of both
  double time_limit_s = std::numeric_limits<double>::infinity();

  const StepCost& at(std::size_t step, std::size_t choice) const {
    return costs[step * choices + choice];
  }
  const SwitchPrice& price(std::size_t from, std::size_t to) const {
    return gear[from] == gear[to] ? sm : memory;
  }
  // Switching costs nothing at all.
  bool free_switching() const;
};

using Assignment = std::vector<std::uint32_t>;  // a choice per step

struct PlanTotals {
  double time_s = 0;
  double energy_j = 0;
  std::size_t switches = 0;  // per iteration
};

// Cost of an assignment, nullopt where changes follow each other too soon. Says nothing of the
// time limit.
std::optional<PlanTotals> evaluate(const PlanProblem& problem, const Assignment& assignment);

// What happens to an assignment whose changes follow each other too soon, or to any: an executor
// asks ahead for what will be wanted when its request acts, one request at a time, and what runs
// meanwhile runs at the old choice. Means per iteration over many.
PlanTotals execute(const PlanProblem& problem, const Assignment& assignment);

// Everything at one choice.
PlanTotals uniform_totals(const PlanProblem& problem, std::size_t choice);
// The choice of least energy within the time limit; the default where none is.
std::size_t best_uniform(const PlanProblem& problem);

}  // namespace hypermile
