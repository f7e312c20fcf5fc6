// SPDX-License-Identifier: Apache-2.0
//
// Finds the longest switch latency at which plans of each granularity still save more energy than
// one setting for the whole iteration. Called by plan_report.cpp; pure.
#pragma once

#include "plan/plan_report.h"

namespace hypermile {

BreakEven find_break_even(const StrategyInput& input, const Switching& switching);

}  // namespace hypermile
