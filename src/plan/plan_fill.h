// SPDX-License-Identifier: Apache-2.0
//
// What the multiplier leaves where switching is free: the rest of the allowed time is spent on the
// best trades of single steps.
#pragma once

#include "plan/planner.h"

namespace hypermile {

// From a plan within the limit towards a cheaper one beyond it, step by step, the best trade first.
Plan fill_up(const PlanProblem& problem, const Plan& within, const Assignment& beyond);

}  // namespace hypermile
