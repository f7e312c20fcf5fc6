// SPDX-License-Identifier: Apache-2.0
//
// What the multiplier leaves: it finds plans on the convex hull of time and energy only, so that
// some of the allowed time is left over. Here a plan's segments are given other choices and its
// changes are moved, as long as energy falls within the limit.
#pragma once

#include "plan/planner.h"

namespace hypermile {

// A plan made from the segments of `assignment`, which may be beyond the time limit; nullopt where
// none within the limit was found.
std::optional<Plan> refine(const PlanProblem& problem, const Assignment& assignment);

}  // namespace hypermile
