// SPDX-License-Identifier: Apache-2.0
//
// How quick a switch has to be: the longest latency at which plans of each granularity still save
// more than one Setting for everything.
#pragma once

#include "plan/plan_report.h"

namespace hypermile {

BreakEven find_break_even(const StrategyInput& input, const Switching& switching);

}  // namespace hypermile
