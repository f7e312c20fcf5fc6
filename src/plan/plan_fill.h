// SPDX-License-Identifier: Apache-2.0
//
// For free switching: spends the time that the Lagrange multiplier leaves unused on the best trades
// of single stages. Called by planner.cpp; pure.
#pragma once

#include "plan/planner.h"

namespace hypermile {

// Moves single stages from the choices of `within` to those of `beyond`, a cheaper plan over the
// time limit, best trade first, as long as the plan stays within the limit.
Plan fill_up(const PlanProblem& problem, const Plan& within, const Assignment& beyond);

}  // namespace hypermile
