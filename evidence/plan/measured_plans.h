// SPDX-License-Identifier: Apache-2.0
//
// Whether measured layers make better plans than the model: simulated cards whose kernels reach
// other shares of the peak rates than the planner assumes, profiled with noise, planned both ways,
// and both plans carried out on the card itself. Called by main.cpp.
#pragma once

#include <string>

namespace hypermile {

std::string measured_plans_evidence();

}  // namespace hypermile
