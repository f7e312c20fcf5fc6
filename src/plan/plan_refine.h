// SPDX-License-Identifier: Apache-2.0
//
// Improves a plan. The Lagrange multiplier only finds plans on the convex hull of time and energy,
// and so leaves a part of the allowed time unused. The refinement gives segments other choices and
// moves changes, as long as the energy falls within the time limit. Called by planner.cpp; pure.
#pragma once

#include "plan/planner.h"

namespace hypermile {

// Starts from the segments of `assignment`, which may be beyond the time limit. Returns nullopt
// where no plan within the limit was found.
std::optional<Plan> refine(const PlanProblem& problem, const Assignment& assignment);

}  // namespace hypermile
