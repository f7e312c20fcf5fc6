// SPDX-License-Identifier: Apache-2.0
//
// The switch-aware planner: assigns a choice to each stage of a repeating iteration, for least
// energy within the time limit, given what a switch costs (docs/design/planner.md).
//
// The plan is never worse than the best single choice. With free switching it is the optimum of
// each stage; where a switch takes longer than an iteration, it is the best single choice. Small
// problems are solved exactly, larger ones by a dynamic program with a multiplier for the time,
// followed by a refinement. Called by the strategies; pure.
#pragma once

#include "plan/plan_problem.h"

namespace hypermile {

struct Plan {
  Assignment choice;
  PlanTotals totals;
};

// The default (choice 0 throughout) must be within the time limit.
Plan make_plan(const PlanProblem& problem);

// The two methods behind make_plan(), declared for its tests. Both return a plan within the limit.
Plan exact_plan(const PlanProblem& problem);     // exponential, for tiny problems only
Plan lagrange_plan(const PlanProblem& problem);  // any size

}  // namespace hypermile
