// SPDX-License-Identifier: Apache-2.0
//
// Leaves out choices that another one beats in every step, so that the planner has fewer states.
#pragma once

#include "plan/plan_problem.h"

namespace hypermile {

struct PrunedProblem {
  PlanProblem problem;
  std::vector<std::uint32_t> original;  // per choice left, its number before
};

// Choice 0 stays and stays first. A choice goes where one of the same memory clock, or of the
// default's, is no slower and needs no more energy in any step.
PrunedProblem prune(const PlanProblem& problem);

// At most about `most` choices, evenly from each memory clock's; choice 0 stays and stays first.
// Neighbouring SM clocks differ little.
PrunedProblem thin_out(const PlanProblem& problem, std::size_t most);

}  // namespace hypermile
