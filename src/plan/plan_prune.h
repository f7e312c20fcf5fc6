// SPDX-License-Identifier: Apache-2.0
//
// Removes choices that another choice beats in every stage, so that the planner has fewer states.
// Called by planner.cpp; pure.
#pragma once

#include "plan/plan_problem.h"

namespace hypermile {

struct PrunedProblem {
  PlanProblem problem;
  std::vector<std::uint32_t> original;  // each remaining choice's number in the whole problem
};

// Keeps choice 0 as the first. Removes a choice where another one, of the same or the default's
// memory clock, needs neither more time nor more energy in any stage.
PrunedProblem prune(const PlanProblem& problem);

// Keeps about `most` choices, evenly from each memory clock, as neighbouring SM clocks differ
// little. Choice 0 stays the first.
PrunedProblem thin_out(const PlanProblem& problem, std::size_t most);

}  // namespace hypermile
