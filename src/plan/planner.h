// SPDX-License-Identifier: Apache-2.0
//
// The switch-aware planner: which choice for which step of a repeating iteration, for least energy
// within the time limit, knowing what a switch costs. How: docs/design/planner.md.
//
// Never worse than the best single choice. With free switching it is the per-step optimum; where a
// switch takes longer than the iteration it is the best single choice. Small problems are solved
// exactly; larger ones by a dynamic program with a multiplier for the time, refined afterwards.
#pragma once

#include "plan/plan_problem.h"

namespace hypermile {

struct Plan {
  Assignment choice;
  PlanTotals totals;
};

// The default (choice 0 throughout) must be within the time limit.
Plan make_plan(const PlanProblem& problem);

// One each of the ways, for make_plan() and its tests. All return a plan within the limit.
Plan exact_plan(const PlanProblem& problem);     // exponential: tiny problems only
Plan lagrange_plan(const PlanProblem& problem);  // any size

}  // namespace hypermile
